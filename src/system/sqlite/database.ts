/**
 * Wraps the database library. It is a native module that ends the whole process on an unexpected argument or value, so all access
 * goes through this class.
 *
 * 1. Values are bound as one array with exactly one value per placeholder: the library keeps the old value of a placeholder without
 *    one. Only text, whole numbers, booleans, bytes and null pass.
 * 2. Every column is read through CAST, as an integer or as bytes that are decoded here: a damaged page may hold invalid UTF-8 in
 *    any column, and the library aborts on it. CAST also keeps the text after a NUL.
 * 3. The key is tested on an immutable view of the file before the file is opened: a connection with the wrong key would merge a
 *    leftover write-ahead log with it and destroy the database.
 * 4. The file, and so its -wal and -shm, belongs to the user alone.
 * 5. On a full or read-only disk, the database can still be read: as an immutable view or, if the write-ahead log has content, as a
 *    copy elsewhere. Such a database refuses changes.
 */
import { rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { StoreError } from "../../base/store-error.js";
import { nodeClock } from "../node-clock.js";
import { type Bindable, bindable } from "./bindable.js";
import { type Columns, castAll, packed, type Row, readRow, unpack } from "./columns.js";
import { copyWithLog, prepareFile } from "./database-files.js";
import { requireNative } from "./load-native.js";
import { connect, loadNative, type NativeDatabase, type NativeStatement, tryKey, USUAL } from "./native-database.js";
import { guarded, type Named } from "./native-errors.js";

/** Errors that postpone the cleanup. */
const POSTPONED: ReadonlySet<string> = new Set(["busy", "full"]);

const BUSY_TIMEOUT_MS = 5000;
const BUSY_PAUSE_MS = 20;
/** The write-ahead log is merged when it has this many pages, and cut to that size. */
const LOG_PAGES = 256;
const PAGE_BYTES = 4096;

const SETTINGS = `
  PRAGMA temp_store = MEMORY;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA synchronous = NORMAL;
`;
/** Overwrites deleted and expired content. */
const SECURE_DELETE = "secure_delete = ON";

export interface DatabaseOptions {
  readonly path: string;
  /** 32 random bytes, used only for this database. */
  readonly key: Uint8Array;
  readonly load?: () => unknown;
  /** The name for people, in messages; default "session database". */
  readonly noun?: string;
}

export type Synchronous = "NORMAL" | "FULL";

export class Database {
  readonly path: string;
  readonly noun: string;
  readonly #native: NativeDatabase;
  readonly #statements = new Map<string, { readonly statement: NativeStatement; readonly places: number }>();
  #synchronous: Synchronous = "NORMAL";
  /** The write-ahead log; it stays the same file while a process has the database open. */
  #log: Promise<FileHandle> | undefined;
  #commits = 0;
  /** The newest sync to the disk, and how many commits it covers. */
  #syncing: { readonly commits: number; readonly done: Promise<void> } | undefined;
  #open = true;
  /** A read-only view; `copy` is the folder that `close` removes. */
  readonly #view: { readonly copy: string | undefined } | undefined;

  private constructor({ path, noun }: Named, native: NativeDatabase, view?: { readonly copy: string | undefined }) {
    this.path = path;
    this.noun = noun;
    this.#native = native;
    this.#view = view;
  }

  /** Opens it read-only if it cannot be opened normally. */
  static async openView({ path, key, load = requireNative, noun = USUAL }: DatabaseOptions): Promise<Database> {
    const Native = loadNative(load, noun);
    const encryptionKey = Buffer.from(key).toString("hex");
    const copy = await copyWithLog({ path, noun });
    const file = copy === undefined ? path : join(copy, basename(path));
    tryKey(Native, { path: file, noun }, encryptionKey);
    const place = copy === undefined ? `${pathToFileURL(path).href}?immutable=1` : file;
    const native = connect(Native, { path: place, noun }, { encryptionKey, timeout: 0 });
    const database = new Database({ path, noun }, native, { copy });
    return forReading(database);
  }

  /** To read a database of another program, which has no key. */
  static async openPlain({ path, noun = USUAL }: Partial<Named> & Pick<Named, "path">): Promise<Database> {
    const Native = loadNative(requireNative, noun);
    const copy = await copyWithLog({ path, noun });
    const place = copy === undefined ? `${pathToFileURL(path).href}?immutable=1` : join(copy, basename(path));
    const database = new Database({ path, noun }, connect(Native, { path: place, noun }, { timeout: 0 }), { copy });
    return forReading(database);
  }

  static async open({ path, key, load = requireNative, noun = USUAL }: DatabaseOptions): Promise<Database> {
    const Native = loadNative(load, noun);
    const encryptionKey = Buffer.from(key).toString("hex");
    const named = { path, noun };
    const isNew = await prepareFile(named);
    if (!isNew) tryKey(Native, named, encryptionKey);
    const native = connect(Native, named, { encryptionKey, timeout: BUSY_TIMEOUT_MS });
    const database = new Database(named, native);
    try {
      await database.#configure();
    } catch (error) {
      native.close();
      throw error;
    }
    return database;
  }

  /** Two processes may set up a new file at once; a change of the journal mode does not wait for a lock. */
  async #configure(): Promise<void> {
    const deadline = nodeClock.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        this.script(SETTINGS);
        // It works only before the first table.
        this.script("PRAGMA auto_vacuum = INCREMENTAL");
        this.#pragma(SECURE_DELETE);
        this.#pragma("journal_mode = WAL");
        this.#pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
        this.#pragma(`journal_size_limit = ${LOG_PAGES * PAGE_BYTES}`);
        return;
      } catch (error) {
        const busy = error instanceof StoreError && error.code === "busy";
        if (!busy || nodeClock.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
      }
    }
  }

  /** Runs a statement and says how many rows it changed. */
  run(sql: string, values: readonly Bindable[] = []): number {
    const { statement, bound } = this.#prepare(sql, values);
    return guarded(this, () => statement.run(bound)).changes;
  }

  /** `rest` is what follows the columns: FROM, WHERE, ORDER BY … */
  select<const C extends Columns>(columns: C, rest: string, values: readonly Bindable[] = []): Row<C>[] {
    const { statement, bound } = this.#prepare(`SELECT ${castAll(columns)} ${rest}`, values);
    const rows = guarded(this, () => statement.raw().all(bound));
    return rows.map((row) => readRow(columns, row, this.noun));
  }

  first<const C extends Columns>(columns: C, rest: string, values: readonly Bindable[] = []): Row<C> | undefined {
    return this.select(columns, rest, values)[0];
  }

  /**
   * The same as `select`, for many rows: the database packs them into one text of integers and one run of bytes, because the
   * library takes longer to return a row than to read it.
   */
  selectMany<const C extends Columns>(columns: C, rest: string, values: readonly Bindable[] = []): Row<C>[] {
    const { statement, bound } = this.#prepare(packed(columns, rest), values);
    const [row] = guarded(this, () => statement.raw().all(bound));
    return unpack(columns, row ?? [], this.noun);
  }

  /** Statements without values. */
  script(sql: string): void {
    this.#refuseClosed();
    guarded(this, () => this.#native.exec(sql));
  }

  /** Runs `work` atomically. FULL: it is on the disk when this returns, with everything committed before. */
  transaction<T>(synchronous: Synchronous, work: () => T): T {
    this.#setSynchronous(synchronous);
    this.script("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.script("COMMIT");
      this.#commits++;
      return result;
    } catch (error) {
      // A full disk has ended the transaction already.
      if (this.#native.inTransaction) this.script("ROLLBACK");
      throw error;
    }
  }

  /** Syncs NORMAL commits to disk, without blocking other work. */
  syncLog(): Promise<void> {
    const commits = this.#commits;
    if (this.#syncing?.commits !== commits) this.#syncing = { commits, done: this.#reallySyncLog() };
    return this.#syncing.done;
  }

  async #reallySyncLog(): Promise<void> {
    this.#refuseClosed();
    try {
      this.#log ??= open(`${this.path}-wal`, "r+");
      await (await this.#log).datasync();
    } catch (error) {
      this.#log = undefined;
      this.#syncing = undefined;
      // If it was closed meanwhile, the log was merged into the file and synced with it.
      if (this.#open)
        throw new StoreError("unavailable", `${this.path} cannot be written to the disk: ${(error as Error).message}.`);
    }
  }

  /** `work` reads a consistent snapshot. */
  snapshot<T>(work: () => T): T {
    this.#refuseClosed();
    if (this.#native.inTransaction) return work();
    this.script("BEGIN");
    try {
      return work();
    } finally {
      if (this.#native.inTransaction) this.script("COMMIT");
    }
  }

  /** Returns freed pages to the file system, and removes them from the write-ahead log. */
  shrink(): void {
    try {
      this.script("PRAGMA incremental_vacuum");
      this.#pragma("wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // The pages stay free; the next call returns them.
      if (!(error instanceof StoreError) || !POSTPONED.has(error.code)) throw error;
    }
  }

  close(): void {
    if (!this.#open) return;
    try {
      // The library keeps the file open until its statements are collected, so it does not merge the log itself.
      if (this.#view === undefined) this.#pragma("wal_checkpoint(TRUNCATE)");
    } finally {
      if (this.#view?.copy !== undefined) rmSync(this.#view.copy, { recursive: true, force: true });
      this.#open = false;
      this.#log?.then((log) => log.close()).catch(() => {});
      this.#statements.clear();
      this.#native.close();
    }
  }

  #setSynchronous(synchronous: Synchronous): void {
    if (this.#synchronous === synchronous) return;
    this.script(`PRAGMA synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
  }

  /** Some pragmas answer with rows, which `exec` refuses. */
  #pragma(text: string): void {
    this.#refuseClosed();
    guarded(this, () => this.#native.prepare(`PRAGMA ${text}`).raw().all([]));
  }

  #prepare(sql: string, values: readonly Bindable[]) {
    this.#refuseClosed();
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      const statement = guarded(this, () => this.#native.prepare(sql));
      prepared = { statement, places: sql.split("?").length - 1 };
      this.#statements.set(sql, prepared);
    }
    if (values.length !== prepared.places) {
      throw new TypeError(`${prepared.places} values are wanted, ${values.length} were given: ${sql}`);
    }
    return { statement: prepared.statement, bound: Array.from(values, bindable) };
  }

  #refuseClosed(): void {
    if (!this.#open) throw new StoreError("closed", `The ${this.noun.replace("database", "store")} is closed.`);
  }
}

function forReading(database: Database): Database {
  try {
    database.script("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
