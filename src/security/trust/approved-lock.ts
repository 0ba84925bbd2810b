/**
 * `approved.lock`: what people decided about content.
 *
 * 1. The file only grows, by one line for each decision, written by one append that begins and ends with a line end. So
 *    several processes may write at once, and a line cut short by a crash damages no other: it is skipped, and Oxbow asks the
 *    question again.
 * 2. A decision is for one folder, path and entry, one hash, and what may be done with it. Programs and settings are approved
 *    in their latest approved form alone; of a text, every form that was approved and not refused since, so that
 *    changing between branches asks nothing again.
 * 3. A file that other users can write to is ignored.
 * 4. Only people decide. An agent's attempt is an error.
 * 5. A line also says whether the approved programs of a project run without a flag. Only the person's own file counts for that.
 * 6. A portable lock is read, never written. Its decisions are for one project's files; the user's own come first.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { readRegularTextSync } from "../../system/regular-file.js";
import { ApprovedContents } from "./approved-contents.js";
import type { ChangeClass } from "./change-class.js";
import { type ContentItem, effectOf, keyOf } from "./content.js";
import {
  formatEntry,
  formatPrograms,
  type LockEntry,
  type ProgramsEntry,
  parseEntry,
  parsePrograms,
} from "./lock-entry.js";
import { TrustError } from "./trust-error.js";

export type Decision = LockEntry["decision"];

export interface Approver {
  readonly identity: "human" | "agent";
  /** Says who decides, for the record. */
  readonly name: string;
}

export interface LockOptions {
  /** In Oxbow's configuration folder. It need not exist. */
  readonly file: string;
  /** A folder for the approved bytes. */
  readonly contents: string;
  /** A lock made by `--emit-lockfile`, and the top of the project that it is for. */
  readonly portable?: { readonly file: string; readonly root: string };
  readonly findPins?: FindPins;
  /** Holds what the user should know of an item before the decision, besides its content. */
  readonly noteOn?: NoteOn;
}

/** The hashes of the files that an entry starts, as they are now; undefined for anything else. */
export type FindPins = (item: ContentItem, bytes: Uint8Array) => Promise<Readonly<Record<string, string>> | undefined>;

export type NoteOn = (item: ContentItem, bytes: Uint8Array) => Promise<string | undefined>;

export interface NewDecision {
  readonly decision: Decision;
  readonly item: ContentItem;
  readonly change: ChangeClass;
  /** The item's bytes, to be kept. */
  readonly bytes?: Uint8Array | undefined;
  readonly by: Approver;
  readonly at: Date;
}

type ByKey = Map<string, LockEntry[]>;

export class ApprovedLock {
  readonly file: string;
  readonly #contents: ApprovedContents;
  readonly #own: ByKey;
  readonly #programs: Map<string, ProgramsEntry>;
  readonly #portable: ByKey = new Map();
  readonly #findPins: FindPins | undefined;
  readonly #noteOn: NoteOn | undefined;

  constructor(options: LockOptions) {
    this.file = options.file;
    this.#findPins = options.findPins;
    this.#noteOn = options.noteOn;
    this.#contents = new ApprovedContents(options.contents);
    const own = readOwn(options.file);
    this.#own = byKey(own.entries);
    this.#programs = new Map(own.programs.map((entry) => [entry.root, entry]));
    if (options.portable === undefined) return;
    const { file, root } = options.portable;
    this.#portable = byKey(readPortable(file).map((entry) => (entry.root === undefined ? { ...entry, root } : entry)));
  }

  /** Since when the approved programs of a project run without a flag, as the person has decided; undefined if they do not. */
  programsRun(root: string): ProgramsEntry | undefined {
    const entry = this.#programs.get(root);
    return entry?.programs === "run" ? entry : undefined;
  }

  decidePrograms(root: string, programs: ProgramsEntry["programs"], { by, at }: Pick<NewDecision, "by" | "at">): void {
    requireHuman(by);
    const entry = { root, programs, at: at.toISOString(), by: by.name };
    append(this.file, formatPrograms(entry));
    this.#programs.set(root, entry);
  }

  /** Tells what was decided about exactly this. */
  decisionOn(item: ContentItem): LockEntry | undefined {
    return decisionIn(this.#own.get(keyOf(item)), item) ?? decisionIn(this.#portable.get(keyOf(item)), item);
  }

  /** The form that was approved last, to compare with. */
  lastApproved(item: Pick<ContentItem, "root" | "path" | "entry">): LockEntry | undefined {
    return lastApproval(this.#own.get(keyOf(item))) ?? lastApproval(this.#portable.get(keyOf(item)));
  }

  bytesOf({ sha256 }: LockEntry): Buffer | undefined {
    return this.#contents.get(sha256);
  }

  async noteOn(item: ContentItem, bytes: Uint8Array): Promise<string | undefined> {
    return this.#noteOn?.(item, bytes);
  }

  /** The program files of an approved entry that are not what they were: their paths. */
  async changedPins(item: ContentItem, bytes: Uint8Array): Promise<readonly string[]> {
    const pins = this.decisionOn(item)?.pins;
    if (pins === undefined) return [];
    const now = (await this.#findPins?.(item, bytes)) ?? {};
    return Object.entries(pins).flatMap(([path, hash]) => (now[path] === hash ? [] : [path]));
  }

  /** The last decision on each thing in a folder. */
  below(root: string): readonly LockEntry[] {
    const last = new Map<string, LockEntry>();
    for (const [key, entries] of [...this.#portable, ...this.#own]) {
      const entry = entries.at(-1);
      if (entry?.root === root) last.set(key, entry);
    }
    return [...last.values()];
  }

  async record({ decision, item, change, bytes, by, at }: NewDecision): Promise<void> {
    requireHuman(by);
    const { root, path, entry: part, kind, sha256, size, executable } = item;
    const pins = decision === "approved" && bytes !== undefined ? await this.#findPins?.(item, bytes) : undefined;
    const entry: LockEntry = {
      root,
      path,
      ...(part !== undefined && { entry: part }),
      ...{ kind, decision, sha256, size, executable },
      ...{ class: change, at: at.toISOString(), by: by.name },
      ...(pins !== undefined && { pins }),
    };
    const earlier = lastApproval(this.#own.get(keyOf(item)));
    if (decision === "approved" && bytes !== undefined) await this.#contents.keep(bytes);
    append(this.file, formatEntry(entry));
    addTo(this.#own, entry);
    if (decision === "approved" && earlier !== undefined) this.#forgetUnused(earlier.sha256);
  }

  #forgetUnused(hash: string): void {
    for (const entries of this.#own.values()) if (lastApproval(entries)?.sha256 === hash) return;
    this.#contents.forget(hash);
  }
}

function requireHuman({ identity }: Approver): void {
  if (identity === "human") return;
  throw new TrustError("Only a person can approve content; this request came from an agent.");
}

/** A lock for other machines: the decisions on these items of one project, without the machine's paths. */
export function portableLock(items: readonly ContentItem[], lock: ApprovedLock): string {
  const lines = items.flatMap((item) => {
    const entry = lock.decisionOn(item);
    if (entry === undefined) return [];
    const { root: _, pins, ...rest } = entry;
    return [`${formatEntry({ ...rest, ...(pins !== undefined && { pins: ofProject(pins) }) })}\n`];
  });
  return lines.sort().join("");
}

/** Programs outside the project differ from machine to machine. */
function ofProject(pins: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(pins).filter(([path]) => !isAbsolute(path)));
}

function decisionIn(entries: readonly LockEntry[] | undefined, item: ContentItem): LockEntry | undefined {
  const last = entries?.findLast((entry) => {
    return entry.sha256 === item.sha256 && entry.kind === item.kind && effectOf(entry) === effectOf(item);
  });
  const counts = last?.decision === "refused" || effectOf(item) === "informs" || last === lastApproval(entries);
  return counts ? last : undefined;
}

function lastApproval(entries: readonly LockEntry[] | undefined): LockEntry | undefined {
  return entries?.findLast(({ decision }) => decision === "approved");
}

function byKey(entries: readonly LockEntry[]): ByKey {
  const map: ByKey = new Map();
  for (const entry of entries) addTo(map, entry);
  return map;
}

function addTo(map: ByKey, entry: LockEntry): void {
  const key = keyOf({ ...entry, root: entry.root ?? "" });
  const known = map.get(key);
  if (known === undefined) map.set(key, [entry]);
  else known.push(entry);
}

interface OwnDecisions {
  readonly entries: readonly LockEntry[];
  readonly programs: readonly ProgramsEntry[];
}

function readOwn(file: string): OwnDecisions {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { entries: [], programs: [] };
    throw new TrustError(`Oxbow cannot read ${file}: ${(error as Error).message}`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new TrustError(`${file} is not a file. Move it away.`);
    const uid = process.getuid?.();
    const isOurs = uid === undefined || stat.uid === uid || stat.uid === 0;
    if (!isOurs || (process.platform !== "win32" && (stat.mode & 0o022) !== 0)) {
      throw new TrustError(
        `${file} can be written by other users, so Oxbow ignores its approvals. Check it, then restrict it to yourself: chmod 600 '${file}'`,
      );
    }
    const text = readFileSync(fd, "utf8");
    const entries = readLines(text, file).filter((entry) => entry !== undefined);
    return { entries, programs: text.split("\n").flatMap((line) => parsePrograms(line) ?? []) };
  } finally {
    closeSync(fd);
  }
}

/** This lock file was prepared on purpose, so every problem with it is an error. */
function readPortable(file: string): readonly LockEntry[] {
  let text: string;
  try {
    text = readRegularTextSync(file);
  } catch (error) {
    throw new TrustError(`Oxbow cannot read the lock file ${file}: ${(error as Error).message}`);
  }
  const entries = readLines(text, file);
  const damaged = entries.indexOf(undefined);
  if (damaged >= 0) {
    throw new TrustError(
      `${file}: entry ${damaged + 1} is not one of a lock file. Make the file again with 'oxbow ack --emit-lockfile'.`,
    );
  }
  return entries.filter((entry) => entry !== undefined);
}

function readLines(text: string, file: string): readonly (LockEntry | undefined)[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => parseEntry(line, file));
}

function append(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  let fd: number;
  try {
    fd = openSync(file, flags, 0o600);
  } catch (error) {
    throw new TrustError(`Oxbow cannot write ${file}: ${(error as Error).message}`);
  }
  try {
    fchmodSync(fd, 0o600);
    const bytes = Buffer.from(`\n${line}\n`);
    if (writeSync(fd, bytes) < bytes.length) throw new TrustError(`${file} could not be written: the disk is full.`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
