/**
 * The folder `.oxbow/sessions/` of a project, which stores sessions as plain files. It belongs to the project, so Oxbow uses it only
 * after the user approved it: otherwise a repository could switch off the encryption of sessions.
 */
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { discoverContent } from "../../security/trust/discover.js";
import type { Roots } from "../../system/xdg-paths.js";
import { openApprovals } from "../content/approvals.js";

export interface ProjectStoreOptions {
  readonly root: string;
  readonly roots: Roots;
  readonly variables: Variables;
  readonly notify: (message: string) => void;
}

/** The nearest approved one from the folder up to the top of the repository; says why another one is not used. */
export async function approvedProjectStore(options: ProjectStoreOptions): Promise<string | undefined> {
  const { root, roots, variables, notify } = options;
  const kinds = new Set(["sessions"] as const);
  const { items, unusable } = await discoverContent({ folder: root, home: { config: roots.config }, kinds });
  const rest = "Sessions are kept in your encrypted database.";
  for (const { root: top, path, problem } of unusable)
    notify(`${join(top, path)} ${problem}, and is not used. ${rest}`);
  const nearest = items.at(-1);
  if (nearest === undefined) return undefined;
  const folder = join(nearest.root, nearest.path);
  const decision = openApprovals(root, { roots, variables }).decisionOn(nearest)?.decision;
  if (decision === "approved") return folder;
  if (decision === undefined) notify(`${folder} is not used before you approve it ('oxbow ack'). ${rest}`);
  return undefined;
}
