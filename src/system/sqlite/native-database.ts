/** The database library: what is used of it, and how a connection is made. */
import { pathToFileURL } from "node:url";
import { StoreError } from "../../base/store-error.js";
import { PACKAGE_NAME } from "./load-native.js";
import { firstLine, guarded, type Named } from "./native-errors.js";

export interface NativeStatement {
  raw(): NativeStatement;
  run(values: readonly unknown[]): { readonly changes: number };
  all(values: readonly unknown[]): readonly (readonly unknown[])[];
}

export interface NativeDatabase {
  prepare(sql: string): NativeStatement;
  exec(sql: string): void;
  readonly inTransaction: boolean;
  close(): void;
}

export interface NativeOptions {
  readonly encryptionKey?: string;
  readonly timeout: number;
}

export type NativeConstructor = new (path: string, options: NativeOptions) => NativeDatabase;

/** The name of the database of the sessions, for people. */
export const USUAL = "session database";

export function loadNative(load: () => unknown, noun: string): NativeConstructor {
  try {
    const Native = load();
    if (typeof Native === "function") return Native as NativeConstructor;
    throw new TypeError("it has no constructor");
  } catch (cause) {
    const missing = `the package ${PACKAGE_NAME} does not load (${firstLine(cause)}).`;
    throw new StoreError(
      "not-installed",
      noun === USUAL
        ? `Oxbow cannot store sessions: ${missing} Install again without --omit=optional, or choose another store with --store files.`
        : `Oxbow cannot open the ${noun}: ${missing} Install again without --omit=optional.`,
      { cause },
    );
  }
}

export function connect(Native: NativeConstructor, { path, noun }: Named, options: NativeOptions): NativeDatabase {
  try {
    return new Native(path, options);
  } catch (cause) {
    // Here the library gives no code, only a text.
    throw new StoreError("unavailable", `Oxbow cannot open the ${noun} ${path}: ${firstLine(cause)}.`, {
      cause,
    });
  }
}

/** On an immutable view: a connection with the wrong key would destroy the database. */
export function tryKey(Native: NativeConstructor, named: Named, encryptionKey: string): void {
  const view = `${pathToFileURL(named.path).href}?immutable=1`;
  const probe = connect(Native, { ...named, path: view }, { encryptionKey, timeout: 0 });
  guarded(named, () => {
    try {
      probe.prepare("SELECT CAST(count(*) AS INTEGER) FROM sqlite_master").raw().all([]);
    } catch (error) {
      // The file may be in the middle of a merge: only an invalid first page counts.
      if ((error as { code?: unknown }).code === "SQLITE_NOTADB") throw error;
    } finally {
      probe.close();
    }
  });
}
