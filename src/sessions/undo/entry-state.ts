/** The state of a path, as far as undo needs it. Links are not followed. */
import type { EntryKind } from "../../base/entry-kind.js";
import { inFolder, WayBlockedError } from "../../system/held-folder.js";
import { entryOf, fileBytes, type HeldEntry, look } from "../../system/overlay/change-set.js";
import { MAX_KEPT_BYTES } from "./limits.js";

export interface EntryState {
  readonly kind: EntryKind;
  /** Permission bits of a file or folder; absent for a file that is about to be made. */
  readonly mode?: number | undefined;
  /** The address of a file's bytes (sealer.ts); absent when they were not read. */
  readonly content?: string;
  readonly size?: number | undefined;
  /** Where a link says it leads. */
  readonly target?: string | undefined;
  /** Distinguishes an unchanged file without reading it. */
  readonly stamp?: string;
}

/** Undefined means that nothing exists there. */
export interface Change {
  /** Relative to the workspace with forward slashes; absolute for a file in another folder that tools may write to. */
  readonly path: string;
  readonly before: EntryState | undefined;
  readonly after: EntryState | undefined;
}

/** Tells whether two observations are certainly of the same thing. */
export function sameState(left: EntryState | undefined, right: EntryState | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (left.kind !== right.kind) return false;
  if (left.kind === "link") return left.target === right.target;
  if (left.kind === "other") return sameStamp(left, right);
  return sameMode(left, right) && (left.kind === "folder" || sameContent(left, right));
}

export function sameContent(left: EntryState, right: EntryState): boolean {
  if (left.content !== undefined && right.content !== undefined) return left.content === right.content;
  return sameStamp(left, right);
}

function sameStamp(left: EntryState, right: EntryState): boolean {
  return left.stamp !== undefined && left.stamp === right.stamp;
}

function sameMode(left: EntryState, right: EntryState): boolean {
  return left.mode === undefined || right.mode === undefined || left.mode === right.mode;
}

/** Describes what is there now. */
export interface Present {
  /** Undefined when there is nothing. */
  readonly state: EntryState | undefined;
  readonly entry?: HeldEntry;
  /** Of a file, unless it is too large or cannot be read. */
  readonly bytes?: Buffer;
  /** Why nothing can be put there: a folder on the way is none. */
  readonly blocked?: WayBlockedError;
}

export function presentAt(root: string, path: string, address: (content: Buffer) => string): Present {
  try {
    return inFolder(root, path, (at) => presentIn(at, address));
  } catch (error) {
    if (error instanceof WayBlockedError) return { state: undefined, blocked: error };
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { state: undefined };
    throw error;
  }
}

function presentIn(at: string, address: (content: Buffer) => string): Present {
  const found = look(at);
  if (found === undefined) return { state: undefined };
  const entry = entryOf(found, at);
  const { kind, mode, size, target = "" } = entry;
  if (kind === "folder") return { entry, state: { kind, mode } };
  if (kind === "link") return { entry, state: { kind, target } };
  const bytes = kind === "file" ? fileBytes(at, MAX_KEPT_BYTES) : undefined;
  const state = { kind, mode, size: bytes?.length ?? size, stamp: stampOf(entry) };
  return bytes === undefined ? { entry, state } : { entry, bytes, state: { ...state, content: address(bytes) } };
}

/** No program can set the time of a change of status. */
function stampOf({ ino, size, mtimeMs, ctimeMs }: HeldEntry): string {
  return `${ino}.${size}.${mtimeMs}.${ctimeMs}`;
}
