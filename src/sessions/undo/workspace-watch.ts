/**
 * Compares the workspace with its last state, for commands that do not announce their changes.
 *
 * 1. What a file's times, size and number say is believed, except for a file that was changed so lately that one more change
 *    would not show: that one is read again. So a comparison costs one look at each file and the reading of what changed.
 * 2. Files are read where they are, never through a link, and nothing but regular files is opened.
 * 3. A file within the limits has its content kept before `compare` resolves; of others it is only known that they changed.
 * 4. An entry that cannot be read or is no longer watched does not count as deleted; one that becomes visible does not count as new.
 */
import { lstatSync, type Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../base/clock.js";
import { fsPath, linkTarget } from "../../system/path-bytes.js";
import { type Change, type EntryState, isOldEnough, kindOf, sameState, stampOf, TICK_MS } from "./entry-state.js";
import {
  type Child,
  FolderMemory,
  type FolderToVisit,
  type IgnoreRules,
  type IgnoreSource,
  type VisitedFolder,
} from "./folder-memory.js";
import { UNWATCHED_NAMES, type UndoLimits } from "./limits.js";
import { readRegularFile } from "./regular-file.js";

/** Takes the content of a file and gives its address. */
export type Keep = (content: Buffer) => Promise<string>;

export interface WorkspaceWatchOptions {
  /** Free of symbolic links. */
  readonly root: string;
  readonly limits: UndoLimits;
  readonly clock: Clock;
  readonly ignore?: IgnoreSource | undefined;
  /** The workspace at another process's last comparison. */
  readonly known?: ReadonlyMap<string, EntryState> | undefined;
  /** When that was; milliseconds since the epoch. */
  readonly knownAt?: number | undefined;
}

export type Comparison =
  | { readonly is: "too-large" }
  | {
      readonly is: "compared";
      readonly changes: readonly Change[];
      /** What is watched from now on, and what is the same but looks different from outside, as it is now. */
      readonly met: ReadonlyMap<string, EntryState>;
      /** Folders that could not be looked into. */
      readonly unreadable: readonly string[];
    };

/** How a file looks from outside. */
type Look = Pick<Stats, "ino" | "size" | "mtimeMs" | "ctimeMs">;

interface Entry {
  readonly state: EntryState;
  readonly look: Look;
  /** The last comparison that met it. */
  round: number;
}

interface Suspect {
  readonly path: string;
  readonly full: string;
  readonly stat: Stats;
  readonly isNew: boolean;
}

interface Waiting extends FolderToVisit {
  /** Was not there the last time: nor was anything in it. */
  readonly isNew: boolean;
}

/** A terminal waits for us: let it draw. */
const BREATHE_MS = 10;
/** Never equal to what a file looks like. */
const UNKNOWN: Look = { ino: -1, size: -1, mtimeMs: -1, ctimeMs: -1 };
const NO_THROW = { throwIfNoEntry: false } as const;

export class WorkspaceWatch {
  readonly #options: WorkspaceWatchOptions;
  readonly #folders: FolderMemory;
  readonly #entries = new Map<string, Entry>();
  /** Asked for once: the rules below are remembered by it. */
  #above: Promise<IgnoreRules | undefined> | undefined;
  #round = 0;
  #keptFiles = 0;
  #keptBytes = 0;
  #comparedAt = 0;
  #breathAt = 0;

  constructor(options: WorkspaceWatchOptions) {
    this.#options = options;
    this.#folders = new FolderMemory(options.ignore, options.clock);
    this.#comparedAt = options.knownAt ?? 0;
    for (const [path, state] of options.known ?? []) this.#set(path, state, { ...UNKNOWN, ino: state.ino ?? -1 });
  }

  /** What changed since the last time. */
  async compare(keep: Keep): Promise<Comparison> {
    const { clock } = this.#options;
    const since = this.#comparedAt;
    this.#comparedAt = clock.wall();
    this.#breathAt = clock.now() + BREATHE_MS;
    this.#round++;
    const unreadable: string[] = [];
    const suspects = await this.#walk(unreadable);
    if (suspects === undefined) return { is: "too-large" };
    const gone = this.#gone(unreadable);
    const numbers = new Set([...gone.values()].map((entry) => entry.look.ino));
    const changes: Change[] = [...gone].map(([path, { state }]) => ({ path, before: state, after: undefined }));
    const met = new Map<string, EntryState>();
    for (const suspect of suspects) {
      const before = this.#entries.get(suspect.path)?.state;
      const read = await this.#examine(suspect, { before, keep });
      if (before !== undefined) {
        if (!sameState(before, read)) changes.push({ path: suspect.path, before, after: read });
        else if (before.ino !== read.ino || (read.stamp !== undefined && before.stamp !== read.stamp)) {
          met.set(suspect.path, read);
        }
      } else if (suspect.isNew) {
        const { birthtimeMs, ino } = suspect.stat;
        const wasElsewhere =
          birthtimeMs > 0 && birthtimeMs < since - TICK_MS && !numbers.has(ino) && !this.#links(suspect);
        changes.push({ path: suspect.path, before, after: wasElsewhere ? { ...read, elsewhere: true } : read });
      } else met.set(suspect.path, read);
      await this.#breathe();
    }
    return { is: "compared", changes, met, unreadable };
  }

  /** What looks different from outside. Undefined when there is too much to look at. */
  async #walk(unreadable: string[]): Promise<readonly Suspect[] | undefined> {
    const { root, ignore, limits } = this.#options;
    const suspects: Suspect[] = [];
    const top = lstatSync(root, NO_THROW);
    if (top === undefined) return suspects;
    this.#above ??= ignore?.above(root);
    const waiting: Waiting[] = [{ path: "", full: root, stat: top, above: await this.#above, isNew: false }];
    let looked = 0;
    for (const folder of waiting) {
      const found = await this.#folders.visit(folder);
      if (found === undefined) {
        unreadable.push(folder.path);
        continue;
      }
      looked += found.children.length;
      if (looked > limits.entries) return undefined;
      for (const child of found.children) {
        if (UNWATCHED_NAMES.has(child.name)) continue;
        const stat = lookAt(child.full);
        if (stat === "hidden") unreadable.push(child.path);
        if (stat === undefined || stat === "hidden" || this.#isLeftOut(child, stat, found)) continue;
        const isNew = folder.isNew || this.#isNew(child, found);
        if (stat.isDirectory()) {
          const kind = this.#entries.get(child.path)?.state.kind ?? "folder";
          waiting.push({ ...child, stat, above: found.rules, isNew: isNew || kind !== "folder" });
        }
        if (this.#looksDifferent(child.path, stat)) suspects.push({ ...child, stat, isNew });
      }
      await this.#breathe();
    }
    return suspects;
  }

  #isLeftOut(child: Child, stat: Stats, folder: VisitedFolder): boolean {
    if (stat.isDirectory()) return folder.ignores(child, "folder");
    const isLarge = stat.size > this.#options.limits.ignoredFileBytes;
    // One that is watched and grew is still there.
    return isLarge && folder.ignores(child, "file") && !this.#entries.has(child.path);
  }

  #isNew(child: Child, folder: VisitedFolder): boolean {
    if (folder.earlier !== undefined) return !folder.earlier.has(child.name);
    return this.#round === 1 && this.#options.known !== undefined;
  }

  #looksDifferent(path: string, stat: Stats): boolean {
    const entry = this.#entries.get(path);
    if (entry === undefined) return true;
    entry.round = this.#round;
    const { ctimeMs, mtimeMs, size, ino } = entry.look;
    return ctimeMs !== stat.ctimeMs || mtimeMs !== stat.mtimeMs || size !== stat.size || ino !== stat.ino;
  }

  async #examine(
    { path, full, stat }: Suspect,
    { before, keep }: { readonly before: EntryState | undefined; readonly keep: Keep },
  ): Promise<EntryState> {
    this.#forget(path);
    const kind = kindOf(stat);
    const mode = stat.mode & 0o7777;
    const { ino } = stat;
    if (kind === "folder") return this.#set(path, { kind, mode, ino }, stat);
    if (kind === "link") return this.#set(path, { kind, target: targetOf(full), ino }, stat);
    const stamp = stampOf(stat);
    // Remembered from an earlier process.
    if (before?.stamp === stamp && before.mode === mode) return this.#set(path, before, stat);
    const seenAt = this.#options.clock.wall();
    const isReadable = kind === "file" && this.#hasRoom(stat.size);
    const read = isReadable ? readRegularFile(full, { limit: this.#options.limits.fileBytes, real: full }) : undefined;
    if (read === undefined) return this.#set(path, { kind, mode, size: stat.size, stamp, ino }, stat);
    const content = await keep(read.bytes);
    const isSure = isOldEnough(stat, seenAt) && stampOf(read.stat) === stamp;
    const state = { kind, mode: read.stat.mode & 0o7777, size: read.bytes.length, content, ino };
    if (isSure) return this.#set(path, { ...state, stamp }, stat);
    return this.#set(path, state, { ...UNKNOWN, ino });
  }

  #hasRoom(size: number): boolean {
    const { files, fileBytes, totalBytes } = this.#options.limits;
    return size <= fileBytes && this.#keptFiles < files && this.#keptBytes + size <= totalBytes;
  }

  /** Drops the entries that were not found, and returns those that were really deleted. */
  #gone(unreadable: readonly string[]): ReadonlyMap<string, Entry> {
    const gone = new Map<string, Entry>();
    for (const [path, entry] of this.#entries) {
      if (entry.round === this.#round) continue;
      this.#forget(path);
      const isHidden = unreadable.some((hidden) => hidden === "" || path === hidden || path.startsWith(`${hidden}/`));
      if (!isHidden && lookAt(`${this.#options.root}/${path}`) === undefined) gone.set(path, entry);
    }
    return gone;
  }

  /** Whether it is another name of a file that was watched before. */
  #links({ stat, path }: Suspect): boolean {
    if (stat.nlink < 2) return false;
    for (const [other, { look }] of this.#entries) if (look.ino === stat.ino && other !== path) return true;
    return false;
  }

  #set(path: string, state: EntryState, { ino, size, mtimeMs, ctimeMs }: Look): EntryState {
    this.#entries.set(path, { state, look: { ino, size, mtimeMs, ctimeMs }, round: this.#round });
    if (state.content !== undefined) {
      this.#keptFiles++;
      this.#keptBytes += state.size ?? 0;
    }
    return state;
  }

  #forget(path: string): void {
    const state = this.#entries.get(path)?.state;
    this.#entries.delete(path);
    if (state?.content === undefined) return;
    this.#keptFiles--;
    this.#keptBytes -= state.size ?? 0;
  }

  async #breathe(): Promise<void> {
    const { clock } = this.#options;
    if (clock.now() < this.#breathAt) return;
    await setImmediate();
    this.#breathAt = clock.now() + BREATHE_MS;
  }
}

/** Undefined if nothing exists; `hidden` if that is unknown. */
function lookAt(full: string): Stats | "hidden" | undefined {
  try {
    return lstatSync(fsPath(full), NO_THROW);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTDIR" ? undefined : "hidden";
  }
}

function targetOf(full: string): string {
  try {
    return linkTarget(full);
  } catch {
    return "";
  }
}
