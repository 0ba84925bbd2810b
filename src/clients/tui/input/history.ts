/**
 * The user's earlier inputs, across sessions.
 *
 * 1. Inputs of this folder come first, then those of other folders; the newest first, and no text twice.
 * 2. The file is bounded, and other clients append to it at the same time.
 * 3. The file contains a mark instead of text that looks like a secret. This client keeps the original text until it ends.
 */
import type { Clock } from "../../../base/clock.js";
import { cleanPaste } from "../../../base/pasted-text.js";

export interface HistoryStorage {
  /** Empty if there is no file. */
  read(): Promise<string>;
  append(line: string): Promise<void>;
  replace(text: string): Promise<void>;
}

export interface HistoryEntry {
  readonly text: string;
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface HistoryOptions {
  readonly storage: HistoryStorage;
  readonly folder: string;
  readonly clock: Clock;
  readonly redact: (text: string) => Promise<string>;
  /** The file cannot be read or written. The history works without it. */
  readonly onProblem?: (error: Error) => void;
}

const MAX_ENTRIES = 2000;
/** The file is shortened when it exceeds the limit by this many entries. */
const SLACK = 500;
const MAX_FILE_CHARACTERS = 4_000_000;
/** A longer text is kept in memory only. */
const MAX_STORED_CHARACTERS = 50_000;
const MAX_REMEMBERED = 200;

export class InputHistory {
  readonly #options: HistoryOptions;
  /** The entries of the file, oldest first. */
  #stored: readonly HistoryEntry[] = [];
  /** The entries of this client, oldest first. */
  readonly #own: HistoryEntry[] = [];
  #list: readonly HistoryEntry[] | undefined;
  /** Writes happen one after the other. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    try {
      const text = await this.#options.storage.read();
      const entries = text.split("\n").flatMap(readEntry);
      this.#stored = entries.slice(-MAX_ENTRIES);
      this.#list = undefined;
      if (entries.length > MAX_ENTRIES + SLACK || text.length > MAX_FILE_CHARACTERS) await this.#shorten();
    } catch (error) {
      this.#complain(error);
    }
  }

  /** This folder's first. */
  list(): readonly HistoryEntry[] {
    this.#list ??= this.#sorted();
    return this.#list;
  }

  add(text: string): void {
    const entry = { text, folder: this.#options.folder, at: this.#options.clock.wall() };
    this.#own.push(entry);
    if (this.#own.length > MAX_REMEMBERED) this.#own.shift();
    this.#list = undefined;
    if (text.length > MAX_STORED_CHARACTERS) return;
    this.#writing = this.#writing.then(() => this.#store(entry)).catch((error) => this.#complain(error));
  }

  /** Resolves when everything added is in the file. */
  written(): Promise<void> {
    return this.#writing;
  }

  async #store(entry: HistoryEntry): Promise<void> {
    const text = await this.#options.redact(entry.text);
    await this.#options.storage.append(writeEntry({ ...entry, text }));
  }

  #shorten(): Promise<void> {
    let room = MAX_FILE_CHARACTERS / 2;
    const lines: string[] = [];
    for (const line of this.#stored.map(writeEntry).reverse()) {
      room -= line.length;
      if (room < 0) break;
      lines.unshift(line);
    }
    return this.#options.storage.replace(lines.join(""));
  }

  #sorted(): readonly HistoryEntry[] {
    const newest = [...this.#stored, ...this.#own].reverse();
    const here = newest.filter(({ folder }) => folder === this.#options.folder);
    const elsewhere = newest.filter(({ folder }) => folder !== this.#options.folder);
    const seen = new Set<string>();
    return [...here, ...elsewhere].filter(({ text }) => !seen.has(text) && seen.add(text));
  }

  #complain(error: unknown): void {
    this.#options.onProblem?.(error instanceof Error ? error : new Error(String(error)));
  }
}

function writeEntry({ text, folder, at }: HistoryEntry): string {
  return `${JSON.stringify({ at, folder, text })}\n`;
}

/** Leaves out an incomplete line, or one that another version wrote. */
function readEntry(line: string): HistoryEntry[] {
  if (line === "") return [];
  try {
    const { at, folder, text } = JSON.parse(line) as Partial<Record<keyof HistoryEntry, unknown>>;
    if (typeof at !== "number" || typeof folder !== "string" || typeof text !== "string") return [];
    const clean = cleanPaste(text);
    return clean === "" ? [] : [{ at, folder, text: clean }];
  } catch {
    return [];
  }
}
