/** Decides which files only the user can have written: those may be approved together, and the hooks among them need no approval. */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "../../system/within.js";
import type { ContentItem } from "./content.js";

/** Tells why an item must be approved on its own; undefined when it need not. */
export function bulkProblem(item: ContentItem): string | undefined {
  if (item.owner !== "user") return "it came with the project";
  const path = item.target ?? join(item.root, item.path);
  if (!isWithin(path, item.root)) return "it is a link out of your configuration folder";
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  for (let current = path; ; current = dirname(current)) {
    const stat = lstatSync(current, { throwIfNoEntry: false });
    if (stat === undefined) return "it is gone";
    if (stat.uid !== uid) return `${current} belongs to another user`;
    if ((stat.mode & 0o022) !== 0) return `other users can write to ${current}`;
    if (current === item.root) return undefined;
  }
}

/**
 * Tells whether an item is a hook that its user wrote into their own settings. It needs no approval: a program that can write there
 * already acts as the user. Hooks of plugins and of Markdown files came from others.
 */
export function isOwnHook(item: ContentItem): boolean {
  if (item.kind !== "hook" && item.kind !== "event-hooks") return false;
  return item.plugin === undefined && !item.path.endsWith(".md") && bulkProblem(item) === undefined;
}
