/** Describes what is known about a place in the workspace without reading it. */

import type { BigIntStats } from "node:fs";
import { type EntryKind, kindOf } from "../../base/entry-kind.js";
import type { ResolvedPath } from "./path-resolver.js";

export { type EntryKind, kindOf };

export interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
}

export interface FileStat {
  readonly path: ResolvedPath;
  readonly kind: EntryKind;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

export function fileStat(path: ResolvedPath, stat: BigIntStats): FileStat {
  return {
    path,
    kind: kindOf(stat),
    size: Number(stat.size),
    mode: Number(stat.mode & 0o7777n),
    modified: Number(stat.mtimeMs),
  };
}
