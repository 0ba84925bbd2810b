/**
 * The only way to read content: it returns the approved bytes, or fails.
 *
 * 1. The file is read once, and the returned bytes are the hashed ones. Later changes of the file do not matter.
 * 2. A program runs from a private copy of the approved bytes, because a path can change between a check and a start.
 */
import { lstatSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Failure, failure } from "../../protocol/errors.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { type ContentItem, nameOf, type TrustedItem } from "./content.js";
import { readPlace, STORE_TERMS } from "./describe.js";
import { entriesOf } from "./entries.js";
import { readContent, sha256, sizeLimit } from "./read-content.js";

/** The content is not what was approved any more. */
export class ContentChanged extends Error {
  override readonly name = "ContentChanged";
  readonly failure: Failure;

  constructor(item: ContentItem, problem?: string) {
    const path = nameOf({ ...item, isAbove: true });
    const changed = failure("HookHashChanged", { path });
    super(problem === undefined ? changed.message : `${path} ${problem}.`);
    this.failure = { ...changed, message: this.message };
  }
}

/** Of an entry: its canonical JSON. */
export async function readTrusted(item: TrustedItem): Promise<Uint8Array> {
  return readItem(item);
}

/** The same for the user's review, before the decision. */
export async function readItem(item: ContentItem): Promise<Uint8Array> {
  if (item.kind === "sessions") return Buffer.from(STORE_TERMS);
  // The limit is that of the file, whatever the entry is.
  const content = readPlace(item.entry === undefined ? item : { ...item, kind: "mcp" }, {});
  if ("problem" in content) throw new ContentChanged(item, content.problem);
  const { bytes } = content;
  const found = item.entry === undefined ? bytes : await entryBytes(item, String(bytes));
  if (found === undefined || sha256(found) !== item.sha256) throw new ContentChanged(item);
  return found;
}

async function entryBytes({ path, entry }: ContentItem, text: string): Promise<Buffer | undefined> {
  const canonical = (await entriesOf(path, text))?.find(({ name }) => name === entry)?.canonical;
  return canonical === undefined ? undefined : Buffer.from(canonical);
}

/**
 * Private copies of approved files, which run instead of the originals; `folder` is one of Oxbow's own. The files keep their
 * places relative to each other, so that a program finds its approved companions, and no others.
 */
export async function trustedCopies(
  items: readonly TrustedItem[],
  folder: string,
): Promise<ReadonlyMap<TrustedItem, string>> {
  const list = items.map(({ root, path, sha256, executable }) => JSON.stringify([root, path, sha256, executable]));
  const tree = join(folder, sha256(list.sort().join("\n")));
  const roots = [...new Set(items.map(({ root }) => root))].sort();
  const copies = new Map<TrustedItem, string>();
  for (const item of items) {
    const bytes = await readItem(item);
    const copy = join(tree, String(roots.indexOf(item.root)), item.path);
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
    const mode = item.executable ? 0o500 : 0o400;
    if (!isIntact(copy, { item, mode })) await writeFileAtomic(copy, bytes, { mode });
    copies.set(item, copy);
  }
  if (copies.size > 0) markUsed(tree);
  return copies;
}

const UNUSED_MS = 30 * 24 * 3600 * 1000;

/** Copies that no process asked for in a month are of files that changed or are gone. */
export function removeUnusedCopies(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const tree = join(folder, name);
    if (!/^[0-9a-f]{64}$/.test(name) || now - statSync(tree).mtimeMs < UNUSED_MS) continue;
    rmSync(tree, { recursive: true, force: true });
  }
}

function markUsed(tree: string): void {
  const now = new Date();
  utimesSync(tree, now, now);
}

function isIntact(path: string, { item, mode }: { readonly item: ContentItem; readonly mode: number }): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o777) !== mode) return false;
  const copy = readContent(path, { limit: sizeLimit(item.kind), keep: 0 });
  return "sha256" in copy && copy.sha256 === item.sha256;
}
