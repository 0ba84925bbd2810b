/** The place of a session, for a client that shows it. */
import { join } from "node:path";
import type { PlaceStatus } from "../protocol/queries.js";
import { gitFolderAround, namedGitFolder } from "../system/git/git-folder.js";
import { smallText } from "../system/git/plain-file.js";
import type { Place } from "./open-engine.js";
import type { OpenedRun } from "./opening.js";

export async function placeStatus(opened: OpenedRun, { root, content, loaded }: Place): Promise<PlaceStatus> {
  const { run, permissions, effort, sandbox, costs } = opened;
  const branch = branchOf(root);
  const limits = await costs.limitsOf(run.model).catch(() => undefined);
  const facts = limits && (await costs.facts(run.model));
  const state = sandbox.state?.kind;
  return {
    cwd: root,
    profile: loaded.chosen.name,
    mode: permissions.planning ? "plan" : permissions.mode,
    ...(effort.level !== undefined && { effort: effort.level }),
    ...(branch !== undefined && { branch }),
    ...(state !== undefined && { sandbox: state }),
    ...(limits !== undefined && { context_window: limits.reads }),
    ...(facts?.price !== undefined && { price: { input: facts.price.input, output: facts.price.output } }),
    ...(facts !== undefined && { images: facts.abilities.images }),
    instructions: content?.files ?? [],
  };
}

/** The branch, or the beginning of the commit that is checked out without one. */
function branchOf(root: string): string | undefined {
  const top = gitFolderAround(root)?.top;
  if (top === undefined) return undefined;
  const dotGit = join(top, ".git");
  const head = smallText(join(namedGitFolder(dotGit) ?? dotGit, "HEAD")).trim();
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 8) : undefined);
}
