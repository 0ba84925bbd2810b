/**
 * A folder of memories on the disk.
 *
 * 1. Every change happens under the lock of the folder: read, change, write, index, audit. Two processes never lose each other's changes.
 * 2. A file is replaced as a whole. A reader sees the old text or the new one. If a process dies between a file and its index, the next change,
 *    the next session and `memory list` repair the index.
 * 3. `save` never replaces a file: a name that is taken gets a number.
 * 4. Files that cannot be read stay as they are, and are reported.
 * 5. What is written passes `redact` first.
 */
import { appendFile, chmod, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { inWords } from "../../system/errno-words.js";
import { withLock } from "../../system/file-lock.js";
import { readRegularText } from "../../system/regular-file.js";
import {
  cutLine,
  isMemoryType,
  type MemoryEntry,
  type MemoryFacts,
  type MemoryProblem,
  type MemoryScope,
  type MemoryType,
  nameFrom,
  readEntry,
  writeEntry,
} from "./entry.js";
import { INDEX_NAME, updatedIndex } from "./index-file.js";

export interface NewMemory {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly type?: MemoryType | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly body: string;
}

export type MemoryChange = { readonly [K in keyof Omit<NewMemory, "name">]?: NewMemory[K] | undefined };

/** Describes who changes something, for the audit. */
export interface Author {
  readonly by: "user" | "model";
  readonly session?: string | undefined;
}

export interface MemoryListing {
  readonly entries: readonly MemoryEntry[];
  readonly problems: readonly MemoryProblem[];
}

/** A refusal in words for people and models. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
}

export interface MemoryFolderOptions {
  readonly path: string;
  readonly scope: Exclude<MemoryScope, "shared">;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
}

export const MOST_FILES = 2_000;
export const MOST_BYTES = 64 * 1024;
/** Longer texts belong into a document. */
export const MOST_BODY_CHARS = 8_000;

interface CachedFile {
  readonly stamp: string;
  readonly read: MemoryEntry | MemoryProblem;
}

export class MemoryFolder {
  readonly path: string;
  readonly scope: Exclude<MemoryScope, "shared">;
  readonly #options: MemoryFolderOptions;
  #cache = new Map<string, CachedFile>();

  constructor(options: MemoryFolderOptions) {
    this.path = options.path;
    this.scope = options.scope;
    this.#options = options;
  }

  /** Sorted by name. A file is read again only after it changed. */
  async list(): Promise<MemoryListing> {
    const names = await this.#fileNames();
    const cache = new Map<string, CachedFile>();
    for (const name of names.slice(0, MOST_FILES)) {
      const file = await this.#read(name);
      if (file !== undefined) cache.set(name, file);
    }
    this.#cache = cache;
    const all = [...cache.values()].map(({ read }) => read);
    const problems = all.flatMap((read) => ("message" in read ? [read] : []));
    if (names.length > MOST_FILES) {
      const message = `There are ${names.length} files; only the first ${MOST_FILES} are used`;
      problems.push({ path: this.path, message });
    }
    return { entries: all.flatMap((read) => ("message" in read ? [] : [read])), problems };
  }

  async save(memory: NewMemory, author: Author): Promise<MemoryEntry> {
    const { clock } = this.#options;
    const { description, body, tags } = this.#checked(memory);
    const wanted = nameFrom(this.#options.redact(memory.name ?? "")) ?? nameFrom(description ?? body) ?? "note";
    const now = new Date(clock.wall()).toISOString();
    return this.#change(async () => {
      const name = await this.#freeName(wanted);
      const facts: MemoryFacts = {
        name,
        description: description ?? cutLine(body),
        type: memory.type ?? (this.scope === "user" ? "user" : "project"),
        tags: tags ?? [],
        created: now,
        updated: now,
        source: author.by === "user" ? "the user" : (author.session ?? "the model"),
        body,
      };
      await this.#write(facts, []);
      return { name, action: "save" };
    }, author);
  }

  async update(name: string, change: MemoryChange, author: Author): Promise<MemoryEntry> {
    return this.#change(async () => {
      const entry = await this.#known(name);
      const { description, body, tags } = this.#checked({ ...change, body: change.body ?? entry.body });
      const updated = new Date(this.#options.clock.wall()).toISOString();
      const described =
        description ?? (change.body === undefined ? entry.description : this.#newDescription(entry, body));
      const facts = {
        ...entry,
        type: change.type ?? entry.type,
        tags: tags ?? entry.tags,
        description: described,
        body,
      };
      await this.#write({ ...facts, updated }, entry.other);
      return { name: entry.name, action: "update" };
    }, author);
  }

  /** Replaces the whole file by what a person wrote. What cannot be read is kept as it is, and is a problem. */
  async replace(name: string, text: string, author: Author): Promise<MemoryEntry | MemoryProblem> {
    return this.#locked(async () => {
      const redacted = this.#options.redact(text);
      const path = this.#pathOf(name);
      const place = { path, stem: name, scope: this.scope, changedAt: this.#options.clock.wall() };
      const read = readEntry({ text: redacted, ...place });
      if ("message" in read) await writeFileAtomic(path, redacted, { mode: 0o600 });
      else await this.#write({ ...read, updated: new Date(place.changedAt).toISOString() }, read.other);
      await this.#afterChange({ name, action: "update" }, author);
      return read;
    });
  }

  async forget(name: string, author: Author): Promise<void> {
    await this.#locked(async () => {
      if (!(await this.has(name))) throw new MemoryError(`There is no memory '${name}'.`);
      await rm(this.#pathOf(name));
      await this.#afterChange({ name, action: "forget" }, author);
    });
  }

  /** Writes MEMORY.md if files came, went or changed since. */
  async keepIndex(): Promise<void> {
    const path = join(this.path, INDEX_NAME);
    const files = await this.#fileNames();
    const before = await readRegularText(path).catch(() => undefined);
    if (before === undefined && files.length === 0) return;
    if (before !== undefined && (await this.#indexOf(before)) === before) return;
    await this.#locked(() => this.#writeIndex());
  }

  async has(name: string): Promise<boolean> {
    return (await this.#fileNames()).includes(`${name}.md`);
  }

  /** The text of a file, also of one that cannot be read as a memory. */
  async textOf(name: string): Promise<string> {
    if (!(await this.has(name))) throw new MemoryError(`There is no memory '${name}'.`);
    return readRegularText(this.#pathOf(name));
  }

  async #fileNames(): Promise<readonly string[]> {
    const found = await readdir(this.path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    const isMemory = (name: string) => /\.md$/.test(name) && name !== INDEX_NAME && !name.startsWith(".");
    return found
      .filter((entry) => !entry.isDirectory() && isMemory(entry.name))
      .map(({ name }) => name)
      .sort();
  }

  async #read(name: string): Promise<CachedFile | undefined> {
    const path = join(this.path, name);
    const stem = name.replace(/\.md$/, "");
    const info = await lstat(path).catch(() => undefined);
    if (info === undefined) return undefined;
    const stamp = `${info.mtimeMs} ${info.size} ${info.ino}`;
    const known = this.#cache.get(name);
    if (known?.stamp === stamp) return known;
    const problem = (message: string) => ({ stamp, read: { path, message } });
    if (!info.isFile()) return problem("It is a link or a special file, so it is not read");
    if (info.size > MOST_BYTES) return problem(`It is longer than ${MOST_BYTES / 1024} KB`);
    try {
      const text = await readRegularText(path);
      return { stamp, read: readEntry({ text, stem, path, scope: this.scope, changedAt: info.mtimeMs }) };
    } catch (error) {
      return problem(`Oxbow cannot read it: ${(error as Error).message}`);
    }
  }

  #checked({ body, description, tags, type }: NewMemory) {
    const { redact } = this.#options;
    const clean = redact(body).trim();
    if (clean === "") throw new MemoryError("The memory is empty.");
    if (clean.length > MOST_BODY_CHARS) {
      throw new MemoryError(
        `The memory has ${clean.length} characters; at most ${MOST_BODY_CHARS} are kept. Shorten it.`,
      );
    }
    if (type !== undefined && !isMemoryType(type)) throw new MemoryError(`There is no type '${String(type)}'.`);
    const line = description === undefined ? undefined : cutLine(redact(description));
    return {
      body: clean,
      description: line === "" ? undefined : line,
      tags: tags?.map((tag) => cutLine(redact(tag))).filter((tag) => tag !== ""),
    };
  }

  /** A description that was the first line of the text follows the text. */
  #newDescription(entry: MemoryEntry, body: string): string {
    return entry.description === cutLine(entry.body) ? cutLine(body) : entry.description;
  }

  async #known(name: string): Promise<MemoryEntry> {
    const { entries, problems } = await this.list();
    const entry = entries.find((each) => each.name === name);
    if (entry !== undefined) return entry;
    const problem = problems.find(({ path }) => path === this.#pathOf(name));
    if (problem !== undefined) throw new MemoryError(`${problem.path}: ${problem.message}. Correct the file first.`);
    throw new MemoryError(`There is no memory '${name}'.`);
  }

  async #freeName(wanted: string): Promise<string> {
    const taken = new Set((await this.#fileNames()).map((name) => name.replace(/\.md$/, "").toLowerCase()));
    for (let number = 1; ; number++) {
      const name = number === 1 ? wanted : `${wanted}-${number}`;
      if (!taken.has(name)) return name;
    }
  }

  async #write(facts: MemoryFacts, other: readonly string[]): Promise<void> {
    await writeFileAtomic(this.#pathOf(facts.name), writeEntry(facts, other), { mode: 0o600 });
  }

  async #change(work: () => Promise<Pick<AuditRecord, "name" | "action">>, author: Author): Promise<MemoryEntry> {
    return this.#locked(async () => {
      const done = await work();
      await this.#afterChange(done, author);
      return this.#known(done.name);
    });
  }

  async #afterChange(done: Pick<AuditRecord, "name" | "action">, author: Author): Promise<void> {
    await this.#writeIndex();
    await this.#sweep();
    const at = new Date(this.#options.clock.wall()).toISOString();
    await appendAudit(this.path, { at, ...done, ...author });
  }

  /** Removes what a process left that died while it replaced a file. Under the lock nothing else is of that kind. */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.path))
      if (/^\..*\.md\.[0-9a-f]+\.tmp$/.test(name)) await rm(join(this.path, name), { force: true });
  }

  async #writeIndex(): Promise<void> {
    const path = join(this.path, INDEX_NAME);
    const before = await readRegularText(path).catch(() => "");
    const after = await this.#indexOf(before);
    if (after !== before) await writeFileAtomic(path, after, { mode: 0o600 });
  }

  async #indexOf(before: string): Promise<string> {
    const { entries, problems } = await this.list();
    const unreadable = problems.map(({ path }) => path.slice(this.path.length + 1)).filter((name) => name !== "");
    return updatedIndex(before, { entries, unreadable });
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    try {
      await mkdir(this.path, { recursive: true, mode: 0o700 });
      await chmod(this.path, 0o700).catch(() => {});
      return await withLock(join(this.path, ".lock"), { clock: this.#options.clock }, work);
    } catch (error) {
      if (error instanceof MemoryError || !(error instanceof Error)) throw error;
      // A full or read-only disk, or another process that holds the lock for too long.
      const message = inWords(`Oxbow cannot change the memories in ${this.path}: ${error.message}`);
      throw new MemoryError(message, { cause: error });
    }
  }

  #pathOf(name: string): string {
    if (/[/\\\0]/.test(name) || name.startsWith("."))
      throw new MemoryError(`'${name}' is not a valid name for a memory.`);
    return join(this.path, `${name}.md`);
  }
}

/** Describes who changed which memory, and when: one JSON line for each change, without the text. */
export interface AuditRecord {
  readonly at: string;
  readonly action: "save" | "update" | "forget";
  readonly name: string;
  readonly by: "user" | "model";
  readonly session?: string | undefined;
}

const AUDIT_FILE = ".audit.jsonl";
const MOST_AUDIT_BYTES = 256 * 1024;

/** The oldest lines go when the file gets long. The caller holds the lock of the folder. */
async function appendAudit(folder: string, record: AuditRecord): Promise<void> {
  const path = join(folder, AUDIT_FILE);
  const text = await readRegularText(path).catch(() => "");
  if (text.length > MOST_AUDIT_BYTES) {
    const lines = text.split("\n");
    await writeFileAtomic(path, lines.slice(Math.floor(lines.length / 2)).join("\n"), { mode: 0o600 });
  }
  // A process that died may have left half a line.
  const start = text === "" || text.endsWith("\n") ? "" : "\n";
  await appendFile(path, `${start}${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/** The newest first. A damaged line is left out. */
export async function readAudit(folder: string): Promise<readonly AuditRecord[]> {
  const text = await readRegularText(join(folder, AUDIT_FILE)).catch(() => "");
  const records = text.split("\n").flatMap((line): AuditRecord[] => {
    try {
      return line === "" ? [] : [JSON.parse(line) as AuditRecord];
    } catch {
      return [];
    }
  });
  return records.reverse();
}
