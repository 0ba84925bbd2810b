/** A person approves a server: its entry as it is written now, and the files that it starts as they are now. */
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { serverNameOf } from "../../extensions/mcp/search-definition.js";
import type { ContentItem } from "../../security/trust/content.js";
import { discoverContent } from "../../security/trust/discover.js";
import { readItem } from "../../security/trust/read-trusted.js";
import { approver, openApprovals } from "../content/approvals.js";
import { discoverOptions } from "../content/content-options.js";
import type { LoadedSettings } from "../settings/settings.js";

export interface ApprovalPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
}

/** The files of the entries that were approved; empty if none has this name. Throws for agents. */
export async function approveServer(
  name: string,
  { loaded, variables, root }: ApprovalPlace,
  { path }: { readonly path?: string } = {},
): Promise<readonly string[]> {
  const kinds = new Set(["mcp"] as const);
  const { items } = await discoverContent({ ...discoverOptions({ root, loaded, variables }), kinds });
  const isMeant = (item: ContentItem) =>
    serverNameOf(item.entry ?? "") === name && (path === undefined || join(item.root, item.path) === path);
  const lock = openApprovals(root, { roots: loaded.roots, variables });
  const found = items.filter(isMeant);
  for (const item of found) {
    const bytes = await readItem(item);
    const by = approver(variables);
    await lock.record({ decision: "approved", item, change: "executable", bytes, by, at: new Date() });
  }
  return found.map((item) => join(item.root, item.path));
}
