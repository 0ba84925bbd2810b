/**
 * The text of a mentioned file that the editor has not saved yet.
 *
 * 1. Only files that the user mentions, below the folder of the session: the model cannot choose what the editor reads.
 * 2. An editor follows symbolic links. A command of the model could replace a folder by one while the editor reads, so the answer counts
 *    only if no folder on the way changed meanwhile and none is a link.
 * 3. Without an answer in time, or with the text that is on the disk, the mention stays what it is: a link.
 */
import { lstat, readFile } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";

export type ReadInEditor = (path: string) => Promise<string>;

const MOST_BYTES = 1024 * 1024;
const PATIENCE_MS = 2000;
/** The times of folders are this coarse on some systems: a change within it may not show. */
const COARSE_MS = 50;

/** The blocks of a prompt, with the unsaved text of a mentioned file behind its mention. */
export async function withUnsaved(
  blocks: readonly ContentBlock[],
  place: { readonly root: string; readonly read: ReadInEditor },
): Promise<readonly ContentBlock[]> {
  const all = await Promise.all(
    blocks.map(async (block): Promise<readonly ContentBlock[]> => {
      const text = block.type === "resource_link" ? await unsavedText(block.uri, place) : undefined;
      if (block.type !== "resource_link" || text === undefined) return [block];
      const note = {
        type: "text" as const,
        text: " (This file has changes in the editor that are not saved. Its text there:)",
      };
      return [block, note, { type: "resource", resource: { uri: block.uri, text } }];
    }),
  );
  return all.flat();
}

export async function unsavedText(
  uri: string,
  { root, read }: { readonly root: string; readonly read: ReadInEditor },
): Promise<string | undefined> {
  const path = pathOf(uri);
  if (path === undefined || !isBelow(path, root)) return undefined;
  const before = await stampOf(path, root);
  if (before === undefined) return undefined;
  const text = await inTime(read(path));
  if (text === undefined || text.length > MOST_BYTES || (await stampOf(path, root))?.all !== before.all)
    return undefined;
  return text === before.text ? undefined : text;
}

function pathOf(uri: string): string | undefined {
  try {
    const url = new URL(uri);
    url.hash = "";
    url.search = "";
    return url.protocol === "file:" ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

function isBelow(path: string, root: string): boolean {
  const inside = relative(root, path);
  return inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && resolve(root, inside) === path;
}

interface Stamp {
  /** Of the folder of the session and all below it on the way to the file. */
  readonly all: string;
  /** Holds what is on the disk; undefined if there is no file yet. */
  readonly text: string | undefined;
}

/** Undefined if a part of the path is a link, or changed just now. */
async function stampOf(path: string, root: string): Promise<Stamp | undefined> {
  const names = relative(root, path).split(sep);
  const marks: string[] = [];
  for (let depth = 0; depth < names.length; depth++) {
    const folder = await lstat(resolve(root, ...names.slice(0, depth)), { bigint: true }).catch(() => undefined);
    if (folder === undefined || !folder.isDirectory()) return undefined;
    if (Date.now() - Number(folder.ctimeMs) < COARSE_MS) return undefined;
    marks.push(`${folder.dev}:${folder.ino}:${folder.ctimeNs}`);
  }
  const file = await lstat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => error.code);
  if (file === "ENOENT") return { all: marks.join(), text: undefined };
  if (typeof file !== "object" || !file.isFile() || file.size > MOST_BYTES) return undefined;
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined ? undefined : { all: [...marks, `${file.ino}:${file.ctimeNs}`].join(), text };
}

function inTime(answer: Promise<string>): Promise<string | undefined> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(undefined), PATIENCE_MS);
    answer.then(done, () => done(undefined)).finally(() => clearTimeout(timer));
  });
}
