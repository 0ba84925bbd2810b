/** A person approves a server: its entry as it is written now, and the files that it starts as they are now. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { SeenApproval } from "../../extensions/mcp/context.js";
import { serverNameOf } from "../../extensions/mcp/search-definition.js";
import type { ContentItem } from "../../security/trust/content.js";
import { discoverContent } from "../../security/trust/discover.js";
import { readItem } from "../../security/trust/read-trusted.js";
import { shown, shownText } from "../../security/trust/shown.js";
import { approver, openApprovals } from "../content/approvals.js";
import { discoverOptions } from "../content/content-options.js";
import type { LoadedSettings } from "../settings/settings.js";

export interface ApprovalPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
}

/** The person has just written it, in this file. The files of the entries that were approved. Throws for agents. */
export async function approveServer(
  name: string,
  place: ApprovalPlace,
  { path }: { readonly path?: string } = {},
): Promise<readonly string[]> {
  const found = await entriesOf(name, place);
  return record(
    found.filter((item) => path === undefined || join(item.root, item.path) === path),
    place,
  );
}

/**
 * An approval of what a person has seen: `version` is of that text. `more` is what the server itself has changed. Without the version of
 * now it approves nothing.
 */
export async function approveSeenServer(
  name: string,
  place: ApprovalPlace,
  { version, more = "" }: { readonly version: string | undefined; readonly more?: string },
): Promise<SeenApproval> {
  const found = await entriesOf(name, place);
  const entries = await Promise.all(found.map(entryText));
  const text = [...entries, ...(more === "" ? [] : [more])].join("\n");
  const now = createHash("sha256").update(text).digest("hex").slice(0, VERSION_LENGTH);
  return text === "" || version === now ? { files: await record(found, place) } : { text, version: now };
}

/** Long enough that no program finds another text with the same one meanwhile. */
const VERSION_LENGTH = 16;

async function entryText(item: ContentItem): Promise<string> {
  const entry = JSON.parse(Buffer.from(await readItem(item)).toString("utf8"));
  return `${shown(join(item.root, item.path))}: ${shown(item.entry ?? "")}\n${shownText(JSON.stringify(entry, null, 2))}`;
}

async function entriesOf(name: string, { loaded, variables, root }: ApprovalPlace): Promise<readonly ContentItem[]> {
  const kinds = new Set(["mcp"] as const);
  const { items } = await discoverContent({ ...discoverOptions({ root, loaded, variables }), kinds });
  return items.filter((item) => serverNameOf(item.entry ?? "") === name);
}

async function record(
  found: readonly ContentItem[],
  { loaded, variables, root }: ApprovalPlace,
): Promise<readonly string[]> {
  const lock = openApprovals(root, { roots: loaded.roots, variables });
  for (const item of found) {
    const bytes = await readItem(item);
    const by = approver(variables);
    await lock.record({ decision: "approved", item, change: "executable", bytes, by, at: new Date() });
  }
  return found.map((item) => join(item.root, item.path));
}
