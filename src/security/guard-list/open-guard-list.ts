import type { Clock } from "../../base/clock.js";
import { currentFolder, findProgram } from "../../system/find-program.js";
import { PersonalSettings } from "../../system/git/personal-settings.js";
import { GuardList } from "./guard-list.js";
import { WorkTreeSearch } from "./work-tree-search.js";

export interface OpenGuardListOptions {
  /** Folders that may be changed, the workspace first: free of links. */
  readonly roots: readonly string[];
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, "now" | "wall">;
}

/** The guard list of these folders, with the git of this machine. */
export function openGuardList({ roots, home, variables, clock }: OpenGuardListOptions): GuardList {
  const [outside = currentFolder()] = roots;
  const program = findProgram("git", variables.PATH, { outside });
  return new GuardList({
    roots,
    clock,
    personal: new PersonalSettings({ program, home, variables }),
    searches: roots.map((root) => new WorkTreeSearch(root, { clock })),
  });
}
