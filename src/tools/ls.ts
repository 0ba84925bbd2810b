import { join } from "node:path";
import type { Tool } from "../engine/ports.js";
import { CATALOG } from "./catalog.js";
import { done, failed, fileTool, formatCount, noted } from "./file-tool.js";
import { printable } from "./files/printable.js";
import { type IgnoreTop, ignoreTop, scopeAbove, scopeOfFolder } from "./search/ignore-files.js";
import { HIDDEN_ALWAYS, type IgnoreScope } from "./search/ignore-rules.js";
import type { Entry, Workspace } from "./workspace.js";

const MAX_ENTRIES = 500;
const MAX_DEPTH = 6;

export function createLsTool(workspace: Workspace): Tool {
  return fileTool(CATALOG.ls, async (args, { signal }) => {
    const { path: place, kind } = await workspace.stat(args.optionalText("path") ?? ".");
    const shown = printable(place.display);
    if (kind !== "folder") return failed(`${shown} is a file, not a folder. Use read to see what is in it.`);
    const depth = args.integer("depth", { least: 1, most: MAX_DEPTH, otherwise: 1 });
    const listing = await listTree(workspace, place.absolute, { depth, signal });
    const details = { path: place.display, entries: listing.count, left_out: listing.leftOut };
    if (listing.count === 0) return noted(`${shown} is empty.`, details);
    return done(render(listing.top, "").join("\n"), details, notes(listing));
  });
}

/** Lists the files of a workspace without its hidden folders. */
export async function visibleTree(workspace: Workspace, depth: number, signal: AbortSignal): Promise<string> {
  const { path } = await workspace.stat(".");
  const listing = await listTree(workspace, path.absolute, { depth, signal, leaveOut: isHiddenFolder });
  return [...render(listing.top, ""), ...notes(listing)].join("\n");
}

function isHiddenFolder({ kind, name }: Entry): boolean {
  return kind === "folder" && name.startsWith(".");
}

function notes({ leftOut }: Listing): readonly string[] {
  return leftOut > 0
    ? [`[${formatCount(leftOut)} more not shown. Use glob with a pattern to find what you need.]`]
    : [];
}

interface Folder {
  readonly path: string;
  readonly depth: number;
  readonly above: IgnoreScope | undefined;
  entries: readonly ListedEntry[];
}

interface ListedEntry extends Entry {
  /** The target of a link. */
  readonly target?: string;
  /** The content, if it was read. */
  inside?: Folder;
  /** The reason why it was not read. */
  closed?: "ignored" | "no room";
}

interface Listing {
  readonly top: Folder;
  readonly count: number;
  readonly leftOut: number;
}

/** Lists level by level, so that the deepest levels are missing when the space runs out. */
async function listTree(
  workspace: Workspace,
  start: string,
  { depth, signal, leaveOut }: { depth: number; signal: AbortSignal; leaveOut?: (entry: Entry) => boolean },
): Promise<Listing> {
  const rules = await ignoreTop(workspace.root);
  const top: Folder = { path: start, depth: 1, above: await scopeAbove(start, rules), entries: [] };
  const waiting = [top];
  let count = 0;
  let leftOut = 0;
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    signal.throwIfAborted();
    const first = await firstEntries(workspace, folder.path, { most: MAX_ENTRIES - count, leaveOut });
    folder.entries = first.entries;
    count += first.entries.length;
    leftOut += first.leftOut;
    if (folder.depth < depth) waiting.push(...(await foldersInside(folder, rules, MAX_ENTRIES - count)));
  }
  return { top, count, leftOut };
}

async function foldersInside(folder: Folder, rules: IgnoreTop, room: number): Promise<readonly Folder[]> {
  const scope = await scopeOfFolder(folder.path, folder.above, rules);
  const out: Folder[] = [];
  for (const entry of folder.entries) {
    if (entry.kind !== "folder") continue;
    if (HIDDEN_ALWAYS.has(entry.name) || scope.ignores(entry.name, "folder")) entry.closed = "ignored";
    else if (room <= 0) entry.closed = "no room";
    else {
      entry.inside = { path: join(folder.path, entry.name), depth: folder.depth + 1, above: scope, entries: [] };
      out.push(entry.inside);
    }
  }
  return out;
}

/** The first entries, folders before files, by name. Keeps at most a few times `most` in memory. */
async function firstEntries(
  workspace: Workspace,
  folder: string,
  { most, leaveOut }: { most: number; leaveOut: ((entry: Entry) => boolean) | undefined },
): Promise<{ entries: readonly ListedEntry[]; leftOut: number }> {
  let kept: Entry[] = [];
  let total = 0;
  for await (const entry of workspace.entries(folder)) {
    if (leaveOut?.(entry)) continue;
    total++;
    kept.push(entry);
    if (kept.length > 2 * most + 100) kept = kept.sort(foldersFirst).slice(0, most);
  }
  kept = kept.sort(foldersFirst).slice(0, most);
  const entries = await Promise.all(kept.map((entry) => withTarget(workspace, folder, entry)));
  return { entries, leftOut: total - kept.length };
}

function foldersFirst(a: Entry, b: Entry): number {
  const rank = Number(b.kind === "folder") - Number(a.kind === "folder");
  if (rank !== 0) return rank;
  return a.name < b.name ? -1 : 1;
}

async function withTarget(workspace: Workspace, folder: string, entry: Entry): Promise<ListedEntry> {
  if (entry.kind !== "link") return { ...entry };
  const target = await workspace.linkTarget(folder, entry.name).catch(() => "?");
  return { ...entry, target };
}

function render(folder: Folder, indent: string): string[] {
  return folder.entries.flatMap((entry) => {
    const line = `${indent}${label(entry)}`;
    return entry.inside === undefined ? [line] : [line, ...render(entry.inside, `${indent}  `)];
  });
}

function label(entry: ListedEntry): string {
  const name = printable(entry.name);
  switch (entry.kind) {
    case "folder":
      if (entry.closed === "ignored") return `${name}/ (ignored)`;
      return entry.closed === "no room" ? `${name}/ (not listed)` : `${name}/`;
    case "link":
      return `${name} -> ${printable(entry.target ?? "?")}`;
    case "other":
      return `${name} (not a regular file)`;
    default:
      return name;
  }
}
