/**
 * Decides whether a path leads to one of Oxbow's own files: keys, credentials, stored sessions, settings.
 *
 * 1. A file is known by its number on its device, and so is every folder above it: another spelling, a link or a second mount of the
 *    folder makes no difference.
 * 2. A hard link has the number of a file in one of the folders. Few files have several names, so that is only looked up for those.
 */
import { type BigIntStats, statSync } from "node:fs";
import { dirname } from "node:path";
import { existingPart } from "../../system/real-path.js";
import { type FileNumber, filesBelow, hasSeveralNames, numberOf } from "./linked-files.js";

export interface OwnFilesOptions {
  /** Absolute. */
  readonly folders: readonly string[];
  /** Folders in them that do not count: outputs of the model's own commands. */
  readonly except?: readonly string[];
  /** Milliseconds that only go forward. */
  now(): number;
}

/** Says how long a listing of the folders stays valid. */
const FRESH_MS = 1000;
const MAX_ENTRIES = 20_000;

export class OwnFiles {
  readonly #options: OwnFilesOptions;
  #linked: { readonly numbers: ReadonlySet<string>; readonly at: number } | undefined;

  constructor(options: OwnFilesOptions) {
    this.#options = options;
  }

  /** `found` describes the opened file, if there is one. */
  has(path: string, found?: FileNumber): boolean {
    const folders = new Set(this.#options.folders.flatMap((folder) => numberAt(folder) ?? []));
    if (folders.size === 0) return false;
    const entry = found ?? statAt(path);
    if (entry !== undefined && folders.has(numberOf(entry))) return true;
    const excepted = new Set((this.#options.except ?? []).flatMap((folder) => numberAt(folder) ?? []));
    if (entry !== undefined && excepted.has(numberOf(entry))) return false;
    const { real, rest } = existingPart(path);
    for (let folder = rest === "" ? dirname(real) : real; ; folder = dirname(folder)) {
      const number = numberAt(folder);
      if (number !== undefined && excepted.has(number)) break;
      if (number !== undefined && folders.has(number)) return true;
      if (folder === dirname(folder)) break;
    }
    return entry !== undefined && hasSeveralNames(entry) && this.#linkedNumbers().has(numberOf(entry));
  }

  /** Own files that have a second name somewhere. */
  #linkedNumbers(): ReadonlySet<string> {
    const now = this.#options.now();
    if (this.#linked !== undefined && now - this.#linked.at < FRESH_MS) return this.#linked.numbers;
    const numbers = new Set<string>();
    for (const folder of this.#options.folders) {
      for (const path of filesBelow(folder, { most: MAX_ENTRIES })) {
        const found = statAt(path);
        if (found !== undefined && hasSeveralNames(found)) numbers.add(numberOf(found));
      }
    }
    this.#linked = { numbers, at: now };
    return numbers;
  }
}

function numberAt(path: string): string | undefined {
  const stat = statAt(path);
  return stat && numberOf(stat);
}

function statAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
