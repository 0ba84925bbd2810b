/** Describes changes of files before they happen, with what undo keeps. */
import type { EntryKind } from "../base/entry-kind.js";
import { fileBytes, type HeldEntry } from "./overlay/change-set.js";

/** Undefined means that nothing exists there. */
export interface ObservedChange {
  /** Without symbolic links, except the entry itself. */
  readonly absolute: string;
  readonly before: ObservedEntry | undefined;
  readonly after: ObservedEntry | undefined;
}

export interface ObservedEntry {
  readonly kind: EntryKind;
  /** Undefined if the system decides. */
  readonly mode?: number | undefined;
  /** The target of a link. */
  readonly target?: string | undefined;
  readonly size?: number | undefined;
  /** Of a file that is not too large. */
  readonly content?: Buffer | undefined;
}

/** Reads the content of a file up to `most` bytes. */
export function observed(full: string, entry: HeldEntry | undefined, most: number): ObservedEntry | undefined {
  if (entry === undefined) return undefined;
  const { kind, mode, size, target } = entry;
  if (kind === "link") return { kind, target };
  if (kind !== "file") return { kind, mode };
  return { kind, mode, size, content: size <= most ? fileBytes(full, most) : undefined };
}
