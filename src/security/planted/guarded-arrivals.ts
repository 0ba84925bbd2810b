/**
 * Files and folders that a sandboxed command made at guarded names (`../guard-list`): editors, agents, package managers and shells run
 * or obey them, and a mount cannot hold what does not exist. They are renamed when the command has ended.
 *
 * 1. Files from before a command belong to the user, and so do files that appear while no command runs.
 * 2. A path that the user allowed stays. So do files that git checked out after the user allowed git.
 * 3. Known files that a command could change, and that changed while one ran, are only reported: the person may have changed them.
 */
import { readlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { statOf } from "../../system/git/git-folder.js";
import { isWithin } from "../../system/within.js";
import { guardedEntries, guardedName } from "../guard-list/guarded-names.js";
import type { HeldPlaces } from "../sandbox/sandbox-options.js";
import { shown } from "../trust/shown.js";
import type { CommandSpan, CommandSpans } from "./command-spans.js";
import { setAside } from "./set-aside.js";
import { TrackedContent } from "./tracked-content.js";

export interface Arrival {
  /** From the workspace. */
  readonly path: string;
  readonly reason: string;
  /** Its new name; undefined if it was not moved. */
  readonly aside?: string;
  readonly what: "renamed" | "kept" | "changed" | "stuck";
}

/** Of a walk through the workspace. */
export interface WalkedFolders {
  readonly notes: ReadonlyMap<string, readonly string[] | undefined>;
  readonly inodes: ReadonlyMap<string, number>;
}

/** The depth that is searched before each command (`../guard-list/work-tree-search.ts`). */
const KNOWN_DEPTH = 12;
const BY_SETTING = "a git setting names it";

export class GuardedArrivals {
  readonly #root: string;
  readonly #spans: CommandSpans;
  /** Guarded paths, each with a mark that identifies the file. */
  readonly #known = new Map<string, string>();
  readonly #absent = new Set<string>();
  #folders: ReadonlyMap<string, number> = new Map();

  constructor(root: string, spans: CommandSpans) {
    this.#root = root;
    this.#spans = spans;
  }

  /** The guarded names in a folder, for the walk. Git folders are checked by their contents. */
  readonly note = (folder: string, names: readonly string[]): readonly string[] =>
    guardedEntries(relative(this.#root, folder).replaceAll("\\", "/"), names).filter((name) => name !== ".git");

  /** Before a command starts. Another one may run, and may have made some of it. */
  remember({ named, absent }: HeldPlaces): void {
    for (const path of named) if (isWithin(path, this.#root) && this.#suspects(path).length === 0) this.#know(path);
    for (const path of absent) if (isWithin(path, this.#root)) this.#absent.add(path);
  }

  /** The first walk: files that last changed before the commands count as known, at any depth. */
  begin(walked: WalkedFolders, startedAt: number): void {
    const isOlder = (path: string) => (statOf(path)?.ctimeMs ?? 0) < startedAt;
    const paths = pathsOf(walked);
    const folders = new Set(paths.flatMap((path) => this.#foldersAround(path)));
    this.#folders = new Map([...walked.inodes].filter(([folder]) => !folders.has(folder) || isOlder(folder)));
    for (const path of paths) {
      // Nearer files that existed were known before the command started.
      const isDeep = this.#foldersAround(path).length > KNOWN_DEPTH;
      if (isOlder(path) && (isDeep || this.#foldersAround(path).every(isOlder))) this.#know(path);
    }
  }

  /** The report about the current files. */
  look(walked: WalkedFolders): readonly Arrival[] {
    const tracked = new TrackedContent();
    const made = [...this.#absent].filter((path) => statOf(path) !== undefined);
    const found: Arrival[] = [];
    let dealtWith: string | undefined;
    // A folder is followed directly by its contents.
    for (const path of [...new Set([...pathsOf(walked), ...made])].sort(byParts)) {
      if (dealtWith !== undefined && isWithin(path, dealtWith)) {
        this.#know(path);
        continue;
      }
      const arrival = this.#deal(path, tracked);
      if (arrival === undefined) continue;
      found.push(arrival);
      if (arrival.what !== "changed") dealtWith = path;
    }
    this.#folders = walked.inodes;
    return found;
  }

  #deal(path: string, tracked: TrackedContent): Arrival | undefined {
    const before = this.#known.get(path);
    const mark = markOf(path);
    if (mark === undefined || mark === before) return undefined;
    this.#know(path);
    const suspects = this.#suspects(path);
    if (suspects.length === 0 || suspects.some(({ writes }) => writes === "everything")) return undefined;
    const way = relative(this.#root, path).replaceAll("\\", "/");
    const arrival = { path: way, reason: guardedName(way) ?? BY_SETTING };
    if (before !== undefined) return isFolder(path) ? undefined : { ...arrival, what: "changed" };
    const granted = suspects.flatMap((span) => span.granted);
    if (granted.some((place) => isWithin(path, place))) return undefined;
    // It contains a path that the user allowed: its other entries are checked one by one.
    if (granted.some((place) => isWithin(place, path))) return undefined;
    if (suspects.some(({ writes }) => writes === "repositories") && tracked.has(path))
      return { ...arrival, what: "kept" };
    const aside = setAside(path, { root: this.#root });
    if (aside === undefined) return statOf(path) && { ...arrival, what: "stuck" };
    this.#known.delete(path);
    this.#know(aside);
    return { ...arrival, what: "renamed", aside: join(dirname(way), basename(aside)) };
  }

  /** The commands that may have made it: they ran when it changed last, or when a folder around it was moved there. */
  #suspects(path: string): readonly CommandSpan[] {
    const found = new Set(this.#spans.around(path, statOf(path)?.ctimeMs ?? 0));
    for (const folder of this.#foldersAround(path)) {
      const place = statOf(folder);
      if (place === undefined || this.#folders.get(folder) === place.ino) continue;
      for (const span of this.#spans.around(path, place.ctimeMs)) found.add(span);
    }
    return [...found];
  }

  #foldersAround(path: string): readonly string[] {
    const folders: string[] = [];
    for (let folder = dirname(path); folder !== this.#root && isWithin(folder, this.#root); folder = dirname(folder))
      folders.push(folder);
    return folders;
  }

  #know(path: string): void {
    const mark = markOf(path);
    if (mark !== undefined) this.#known.set(path, mark);
    this.#absent.delete(path);
  }
}

function byParts(one: string, other: string): number {
  const [left, right] = [one, other].map((path) => path.replaceAll("/", "\0"));
  return (left ?? "") < (right ?? "") ? -1 : 1;
}

function pathsOf({ notes }: WalkedFolders): readonly string[] {
  return [...notes].flatMap(([folder, names = []]) => names.map((name) => join(folder, name)));
}

function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}

/** A folder changes with every file in it, and the files have marks of their own. */
function markOf(path: string): string | undefined {
  const found = statOf(path);
  if (found === undefined) return undefined;
  if (found.isDirectory()) return `folder ${found.ino}`;
  return `${found.ino} ${found.ctimeMs} ${found.isSymbolicLink() ? linkTarget(path) : ""}`;
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const MAX_TOLD = 8;

/** For the user and the model. */
export function arrivalText(arrivals: readonly Arrival[]): string {
  // What is still there comes first: a command could hide it behind many names.
  const inOrder = [...arrivals].sort((one, other) => Number(one.what === "renamed") - Number(other.what === "renamed"));
  const lines = inOrder.slice(0, MAX_TOLD).map(lineOf);
  const left = arrivals.length - MAX_TOLD;
  const more =
    left > 0 ? [`… and ${left} more. Their names are in the result of: find . -name '*.set-aside-by-oxbow*'`] : [];
  const head = "A command made files that other programs run or obey without asking:";
  return [head, ...lines, ...more].join("\n  ");
}

function lineOf({ path, reason, what, aside = "" }: Arrival): string {
  const name = shown(path);
  if (what === "kept") return `${name} (${reason}) came with git. Check it before you use other programs there.`;
  if (what === "changed") return `${name} (${reason}) changed while a command ran. Check it.`;
  if (what === "stuck")
    return `${name} (${reason}) could not be set aside. Check it before you use other programs there.`;
  const back = `mv ${quoted(aside)} ${quoted(path)}`;
  return `${name} (${reason}) is set aside as ${shown(aside)}. To keep it, run: ${shown(back)}`;
}

function quoted(path: string): string {
  return /^[\w./@+][\w./@+-]*$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
