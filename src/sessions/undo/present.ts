/** The current state of a path, without following a link. */
import { lstatSync } from "node:fs";
import { inFolder, WayBlockedError } from "../../system/held-folder.js";
import { fsPath, linkTarget } from "../../system/path-bytes.js";
import { type EntryState, kindOf, stampOf } from "./entry-state.js";
import { MAX_KEPT_BYTES } from "./limits.js";
import { readRegularFile } from "./regular-file.js";

export interface Present {
  /** Undefined when there is nothing. */
  readonly state: EntryState | undefined;
  /** Of a file, unless it is too large or cannot be read. */
  readonly bytes?: Buffer;
  /** Why nothing can be put there: a folder on the way is none. */
  readonly blocked?: WayBlockedError;
}

export function presentAt(root: string, path: string, address: (content: Buffer) => string): Present {
  try {
    return inFolder(root, path, (at) => look(at, address));
  } catch (error) {
    if (error instanceof WayBlockedError) return { state: undefined, blocked: error };
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { state: undefined };
    throw error;
  }
}

function look(at: string, address: (content: Buffer) => string): Present {
  const stat = lstatSync(fsPath(at), { throwIfNoEntry: false });
  if (stat === undefined) return { state: undefined };
  const kind = kindOf(stat);
  const mode = stat.mode & 0o7777;
  if (kind === "folder") return { state: { kind, mode } };
  if (kind === "link") return { state: { kind, target: linkTarget(at) } };
  const read = kind === "file" ? readRegularFile(at, { limit: MAX_KEPT_BYTES }) : undefined;
  if (read === undefined) return { state: { kind, mode, size: stat.size, stamp: stampOf(stat) } };
  const { bytes } = read;
  const stamp = stampOf(read.stat);
  return { state: { kind, mode: read.stat.mode & 0o7777, size: bytes.length, content: address(bytes), stamp }, bytes };
}
