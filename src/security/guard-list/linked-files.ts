/**
 * Other names of files that commands must not see: a hard link is the same file under an ordinary name.
 *
 * 1. A file is known by its number on its device. Only files with several names are compared, and few workspaces have any of those. Then
 *    nothing is searched.
 * 2. The search for other names goes through the workspace, the nearest folders first, up to a limit. It is repeated seldom: commands
 *    cannot link to a file that they do not see.
 */
import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";

export interface LinkedFilesOptions {
  /** Free of links. */
  readonly roots: readonly string[];
  /** The files and folders, as they exist now. */
  hidden(): readonly string[];
  readonly clock: Pick<Clock, "now">;
}

export interface FileNumber {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly nlink: bigint;
}

/** Entries of one hidden folder, and of the workspace. */
const MOST_HIDDEN = 500;
const MOST_SEARCHED = 20_000;
const FRESH_MS = 1000;
const REST_FACTOR = 10;
/** Git reads what is in it by the hash of the content. */
const CONTENT_FOLDER = "objects";

export class LinkedFiles {
  readonly #options: LinkedFilesOptions;
  #known: { readonly byNumber: ReadonlyMap<string, string>; readonly until: number } | undefined;
  #aliases: { readonly key: string; readonly paths: readonly string[]; readonly until: number } | undefined;

  constructor(options: LinkedFilesOptions) {
    this.#options = options;
  }

  /** The other names in the workspace. */
  aliases(): readonly string[] {
    const byNumber = this.#byNumber();
    if (byNumber.size === 0) return [];
    const { clock, roots } = this.#options;
    const key = [...byNumber.keys()].join();
    const started = clock.now();
    if (this.#aliases?.key === key && started < this.#aliases.until) return this.#aliases.paths;
    const paths = roots.flatMap((root) =>
      [...filesBelow(root, { most: MOST_SEARCHED })].filter((path) => {
        const found = statOf(path);
        const other = found?.isFile() && hasSeveralNames(found) ? byNumber.get(numberOf(found)) : undefined;
        return other !== undefined && other !== path;
      }),
    );
    const rest = Math.max(FRESH_MS, (clock.now() - started) * REST_FACTOR);
    this.#aliases = { key, paths, until: clock.now() + rest };
    return paths;
  }

  /** Hidden files with several names. */
  #byNumber(): ReadonlyMap<string, string> {
    const { clock, hidden } = this.#options;
    const started = clock.now();
    if (this.#known !== undefined && started < this.#known.until) return this.#known.byNumber;
    const byNumber = new Map<string, string>();
    for (const place of hidden()) {
      for (const path of filesBelow(place, { most: MOST_HIDDEN, except: CONTENT_FOLDER })) {
        const found = statOf(path);
        if (found?.isFile() && hasSeveralNames(found)) byNumber.set(numberOf(found), path);
      }
    }
    const rest = Math.max(FRESH_MS, (clock.now() - started) * REST_FACTOR);
    this.#known = { byNumber, until: clock.now() + rest };
    return byNumber;
  }
}

interface Walk {
  readonly most: number;
  /** The name of folders to leave out. */
  readonly except?: string;
}

/** The place itself, or the files in it; the nearest first. */
export function* filesBelow(place: string, { most, except }: Walk): Generator<string> {
  if (statOf(place)?.isDirectory() !== true) {
    yield place;
    return;
  }
  const folders = [place];
  let left = most;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of entriesOf(folder)) {
      if (--left < 0) return;
      const path = join(folder, entry.name);
      if (entry.isFile()) yield path;
      if (entry.isDirectory() && entry.name !== except) folders.push(path);
    }
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function hasSeveralNames(found: FileNumber): boolean {
  return found.nlink > 1n;
}

export function numberOf({ dev, ino }: FileNumber): string {
  return `${dev}:${ino}`;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
