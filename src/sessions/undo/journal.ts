/**
 * The undo journal of one session: what its tools changed, and the contents that would otherwise be gone.
 *
 * 1. It is a separate folder, independent of the session store, created before the first change by a tool.
 * 2. A content is in the file before any record that names it.
 * 3. Only the holder of the lock adds to it. A process that takes the lock first reads what others have added.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { isId, type SessionId } from "../../protocol/ids.js";
import { type HeldLock, holdLock, LockBusy, lockHolder } from "../../system/file-lock.js";
import { nodeClock } from "../../system/node-clock.js";
import { StoreError } from "../store.js";
import { History } from "./history.js";
import { JournalFile, storeError } from "./journal-file.js";
import { UNDO_LIMITS, type UndoLimits } from "./limits.js";
import type { UndoRecord } from "./records.js";

const FILE = "journal";
/** Small files share a frame: that compresses better, and one file each would take longer than the command. */
const FRAME_BYTES = 1024 * 1024;
/** Restoring files takes moments; a running command may take hours, and is not waited for. */
const LOCK_WAIT_MS = 3000;

export interface UndoJournalOptions {
  /** The folder that holds the journals of all sessions. */
  readonly folder: string;
  readonly session: SessionId;
  /** 32 bytes; the journal's own keys are made from it. */
  readonly key: Uint8Array;
  readonly clock?: Clock;
  readonly limits?: Partial<UndoLimits>;
}

/** Nothing is read or written before it is needed. */
export function openUndoJournal(options: UndoJournalOptions): UndoJournal {
  return new UndoJournal(options);
}

interface Position {
  readonly frame: number;
  readonly offset: number;
  readonly length: number;
}

export class UndoJournal {
  readonly session: SessionId;
  readonly folder: string;
  readonly clock: Clock;
  readonly limits: UndoLimits;
  readonly #key: Uint8Array;
  #file: JournalFile | undefined;
  #history = new History();
  #contents = new Map<string, Position>();
  #lastFrame: { readonly at: number; readonly bytes: Buffer | undefined } | undefined;
  /** Contents that are being written to the file. */
  readonly #waiting = new Map<string, Buffer>();
  #waitingBytes = 0;
  #flushing = Promise.resolve();
  /** Where the file already holds contents, until a record names them. */
  readonly #unannounced: UndoRecord[] = [];
  #holders = 0;
  #lock: Promise<HeldLock> | undefined;
  #held: HeldLock | undefined;

  constructor(options: UndoJournalOptions) {
    if (!isId("sess", options.session)) {
      throw new StoreError("invalid", `${JSON.stringify(options.session)} is not the id of a session.`);
    }
    if (options.key.length !== 32) throw new StoreError("invalid", "The key of an undo journal must be 32 bytes.");
    this.session = options.session;
    this.folder = join(options.folder, options.session);
    this.clock = options.clock ?? nodeClock;
    this.limits = { ...UNDO_LIMITS, ...options.limits };
    this.#key = options.key;
  }

  /** The state on disk now. */
  history(): History {
    this.#refresh("read");
    return this.#history;
  }

  /** Whether a live process is adding to it. */
  get isInUse(): boolean {
    return isInUse(this.folder);
  }

  /** Takes the lock, or waits for it; a holder may take it again. */
  async enter(): Promise<void> {
    this.#holders++;
    try {
      if (this.#lock === undefined) {
        if (this.#file?.isThere !== true) makeFolder(this.folder);
        this.#lock = holdLock(lockIn(this.folder), { clock: this.clock, patienceMs: LOCK_WAIT_MS });
      }
      this.#held = await this.#lock;
    } catch (error) {
      this.#holders--;
      this.#lock = undefined;
      throw lockError(error, this.folder);
    }
  }

  leave(): void {
    if (--this.#holders > 0) return;
    this.#held?.release();
    this.#held = undefined;
    this.#lock = undefined;
  }

  /** To be called by the holder before it adds something. `root` is written down in a new journal. */
  begin(root: string): History {
    this.#refresh("append");
    if (this.#history.opening === undefined) {
      this.append({ is: "open", root, at: this.clock.wall() });
    }
    return this.#history;
  }

  /** All of them or none. */
  append(...records: readonly UndoRecord[]): void {
    this.#opened().append([...this.#unannounced, ...records]);
    this.#unannounced.length = 0;
    for (const record of records) this.#learn(record);
  }

  /** Names a content without keeping it. */
  address(content: Uint8Array): string {
    return this.#opened().address(content);
  }

  /** Names a content and puts it into the file, by the end of the next `flush` at the latest. */
  async keep(content: Buffer): Promise<string> {
    const address = this.address(content);
    if (this.has(address) || this.#waiting.has(address)) return address;
    this.#waiting.set(address, content);
    this.#waitingBytes += content.length;
    if (this.#waitingBytes >= FRAME_BYTES) await this.flush();
    return address;
  }

  /** Whether there is room for the copies for commands. */
  get hasRoom(): boolean {
    return this.#opened().end + this.#waitingBytes < this.limits.journalBytes;
  }

  /** Everything that was kept is in the file, also what another call is writing. */
  async flush(): Promise<void> {
    const own = this.#flushing.then(() => this.#writeWaiting());
    this.#flushing = own.catch(() => {});
    await own;
  }

  async #writeWaiting(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const contents = [...this.#waiting];
    const bytes = Buffer.concat(contents.map(([, content]) => content));
    const at = await this.#opened().appendContents(bytes);
    const list = contents.map(([address, content]) => [address, content.length] as const);
    for (const [address] of list) this.#waiting.delete(address);
    this.#waitingBytes -= bytes.length;
    const record = { is: "content", at, list } as const;
    this.#unannounced.push(record);
    this.#learn(record);
  }

  /** Waits until everything is on the disk. */
  async sync(): Promise<void> {
    try {
      await this.#opened().sync();
    } catch (error) {
      throw storeError(error, this.folder);
    }
  }

  has(address: string): boolean {
    return this.#contents.has(address);
  }

  /** Undefined when it was not kept, or is damaged. */
  content(address: string): Buffer | undefined {
    const position = this.#contents.get(address);
    if (position === undefined) return undefined;
    if (this.#lastFrame?.at !== position.frame) {
      this.#lastFrame = { at: position.frame, bytes: this.#opened().contents(position.frame) };
    }
    const bytes = this.#lastFrame.bytes?.subarray(position.offset, position.offset + position.length);
    return bytes !== undefined && this.address(bytes) === address ? bytes : undefined;
  }

  /** The holder of the lock must have left before. */
  close(): void {
    this.#closeFile();
  }

  #refresh(access: "read" | "append"): void {
    // The session's journal was removed: a new one starts.
    if (this.#file !== undefined && !this.#file.isThere) this.#closeFile();
    const path = join(this.folder, FILE);
    this.#file ??= JournalFile.open(path, { key: this.#key, session: this.session, access });
    for (const record of this.#file?.read() ?? []) this.#learn(record);
  }

  #closeFile(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#history = new History();
    this.#contents = new Map();
    this.#lastFrame = undefined;
    this.#unannounced.length = 0;
  }

  #opened(): JournalFile {
    if (this.#file === undefined) throw new StoreError("closed", "There is no undo journal of this session.");
    return this.#file;
  }

  #learn(record: UndoRecord): void {
    this.#history.add(record);
    if (record.is !== "content") return;
    let offset = 0;
    for (const [address, length] of record.list) {
      this.#contents.set(address, { frame: record.at, offset, length });
      offset += length;
    }
  }
}

/** Tells whether a live process is adding to the journal of this folder. */
export function isInUse(folder: string): boolean {
  return lockHolder(lockIn(folder)) !== undefined;
}

function lockIn(folder: string): string {
  return join(folder, "lock");
}

function lockError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error;
  if (!(error instanceof LockBusy)) return storeError(error, folder);
  const { holder } = error;
  const where = holder.pid === undefined ? "another system" : `process ${holder.pid}`;
  return new StoreError(
    "busy",
    `A tool of this session is running, or its files are being restored, in ${where}. Wait until that is done, or stop it.`,
  );
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storeError(error, path);
  }
}
