/** The state of a path, as far as undo needs it. */

import type { Stats } from "node:fs";
import { type EntryKind, kindOf } from "../../base/entry-kind.js";

export { type EntryKind, kindOf };

export interface EntryState {
  readonly kind: EntryKind;
  /** Permission bits of a file or folder; absent for a file that is about to be made. */
  readonly mode?: number;
  /** The address of a file's bytes (sealer.ts); absent when they were not read. */
  readonly content?: string;
  readonly size?: number;
  /** Where a link says it leads. */
  readonly target?: string;
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

/** Whether two observations are certainly of the same thing. */
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

/** No program can set the time of a change of status. */
export function stampOf(stat: Stats): string {
  return `${stat.ino}.${stat.size}.${stat.mtimeMs}.${stat.ctimeMs}`;
}
