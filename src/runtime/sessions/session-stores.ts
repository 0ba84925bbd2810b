/**
 * Describes where this process stores sessions: `--store`, `OXBOW_STORE` or the profile, else the nearest `.oxbow/sessions/`
 * of the project that the user has approved, else the user's own encrypted database. One store for all runs of the process, opened on demand.
 */

import { realpath, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Clock } from "../../base/clock.js";
import { Once } from "../../base/once.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { SessionId } from "../../protocol/ids.js";
import { foldersUpward, realFolder } from "../../security/trust/folders.js";
import { isThere } from "../../security/trust/is-there.js";
import type { ResolvedKey } from "../../sessions/key.js";
import type { SessionStore } from "../../sessions/store.js";
import { parseStore, STORES, type StoreName, storeWords } from "../../sessions/stores.js";
import type { UndoJournal } from "../../sessions/undo/journal.js";
import { nodeClock } from "../../system/node-clock.js";
import type { Roots } from "../../system/xdg-paths.js";

export type StoreChoice = { readonly kind: "none" } | { readonly kind: StoreName; readonly folder: string };

export interface SessionStoresOptions {
  readonly settings: {
    /** The user's choice; undefined to choose automatically. */
    readonly store: { readonly value: string | undefined };
    readonly session_key: { readonly value: KeySource };
  };
  readonly variables: Variables;
  readonly roots: Roots;
  /** The working folder. */
  readonly root: string;
  readonly clock?: Clock;
  /** Sessions stay readable on a full or read-only disk. */
  readonly isForReading?: boolean;
  /** An important message for the user. */
  readonly notify: (message: string) => void;
  /** A message that the user should see once. */
  readonly hint: (message: string) => void;
}

/** `auto`: the keychain for a new key, where one answers. */
const KEY_SOURCES = ["auto", "file", "keychain"] as const;
export type KeySource = (typeof KEY_SOURCES)[number];

const UPGRADING = "Database is upgrading…";
const SENT_MS = 50;

export class SessionStores {
  readonly #options: SessionStoresOptions;
  readonly #opened = new Once(() => this.#reallyOpen());
  readonly #key = new Once(() => this.#findKey());
  readonly #project = new Once(() => this.#findProjectStore());

  #tellPeople: (message: string) => number = () => 0;

  constructor(options: SessionStoresOptions) {
    this.#options = options;
  }

  /** Sets what shows a message to all who use the engine, and returns how many they are. */
  tellBy(tell: (message: string) => number): void {
    this.#tellPeople = tell;
  }

  /** undefined if nothing is stored: by choice, or because the library is missing on this machine, which is reported once. */
  open(): Promise<SessionStore | undefined> {
    return this.#opened.get();
  }

  /** Tells whether there is a store already, so that opening it creates nothing. */
  async exists(): Promise<boolean> {
    const choice = await this.choice();
    return choice.kind !== "none" && isThere(join(choice.folder, STORES[choice.kind].sign));
  }

  async choice(): Promise<StoreChoice> {
    const { settings, variables, roots, root } = this.#options;
    const moved = variables.OXBOW_SESSIONS;
    // What the person chose for all folders comes before what one of them brings.
    const asked = settings.store.value ?? (moved ? undefined : await this.#projectStore()) ?? "sqlite";
    const own = moved || roots.data;
    if (asked === "none") return { kind: "none" };
    const { name, folder } = parseStore(readStoreSetting(asked)) ?? { name: "sqlite" };
    return { kind: name, folder: folder === undefined ? resolve(own, STORES[name].inside) : resolve(root, folder) };
  }

  /** The store has the user's sessions of all folders. */
  async isOwn(): Promise<boolean> {
    const { kind } = await this.choice();
    return kind !== "none" && STORES[kind].isOwn;
  }

  /** Searched once: an unused folder is reported once. */
  #projectStore(): Promise<string | undefined> {
    return this.#project.get();
  }

  async #findProjectStore(): Promise<string | undefined> {
    const root = realFolder(this.#options.root);
    if (root === undefined) return undefined;
    // Most folders have none, and every start waits for this check.
    if (!foldersUpward(root, undefined).some((at) => isThere(join(at.root, at.base, ".oxbow", "sessions"))))
      return undefined;
    const { approvedProjectStore } = await import("./project-store.js");
    const folder = await approvedProjectStore({ ...this.#options, root });
    return folder === undefined ? undefined : `files:${folder}`;
  }

  /** The user's key: of the database, of the chains, of the copies that undo needs. */
  async key(): Promise<Uint8Array> {
    return (await this.#resolvedKey()).key;
  }

  /** The place of that key, for messages. */
  async keyPlace(): Promise<string> {
    const { from, path, instead, leftover } = await this.#resolvedKey();
    const places = { "machine-key": "OXBOW_MACHINE_KEY", passphrase: "OXBOW_PASSPHRASE", keychain: "the keychain" };
    if (leftover !== undefined) return `the keychain; ${leftover} is a copy of it: move it to a safe place`;
    if (from !== "key-file") return places[from];
    return instead === undefined ? (path ?? "a file") : `${path}, because no keychain answers. ${instead}`;
  }

  /** The message about a key file that was created without a terminal. */
  async earlierKeyNews(): Promise<string | undefined> {
    const found = await this.#resolvedKey();
    return found.path === undefined || found.created !== undefined ? undefined : keyNews(await this.choice(), found);
  }

  #resolvedKey(): Promise<ResolvedKey> {
    return this.#key.get();
  }

  /** The folder of the copies for undo, for every store. */
  get undoFolder(): string {
    return join(resolve(this.#options.variables.OXBOW_SESSIONS || this.#options.roots.data), "undo");
  }

  /** Opens the record of what the tools of a session changed: for them, and for `oxbow session undo`. */
  async undoJournal(session: SessionId): Promise<UndoJournal> {
    const [{ openUndoJournal }, key] = await Promise.all([import("../../sessions/undo/journal.js"), this.key()]);
    return openUndoJournal({ folder: this.undoFolder, session, key });
  }

  /** Oxbow's own folders. */
  get ownFolders(): readonly string[] {
    const { roots, variables } = this.#options;
    const moved = variables.OXBOW_SESSIONS;
    return [roots.config, roots.data, roots.state, ...(moved ? [moved] : [])].map((folder) => resolve(folder));
  }

  /** The same, plus the folder of sessions that are stored as files: it may lie in a workspace. */
  async keptFolders(): Promise<readonly string[]> {
    const choice = await this.choice();
    if (choice.kind === "none" || STORES[choice.kind].isOwn) return this.ownFolders;
    return [...this.ownFolders, choice.folder, await realpath(choice.folder).catch(() => choice.folder)];
  }

  async close(): Promise<void> {
    await (await this.#opened.forget()?.catch(() => undefined))?.close();
  }

  async #reallyOpen(): Promise<SessionStore | undefined> {
    const { clock = nodeClock, isForReading = false } = this.#options;
    const choice = await this.choice();
    if (choice.kind === "none") return undefined;
    await this.#removeWordIndexes();
    try {
      const [key, onUpgrade] = [() => this.key(), () => this.#sayUpgrade()];
      return await STORES[choice.kind].open({ folder: choice.folder, key, clock, isForReading, onUpgrade });
    } catch (error) {
      if ((error as { code?: unknown }).code !== "not-installed") throw error;
      this.#options.notify(
        `sessions are not saved: ${(error as Error).message} '--store files' keeps them as plain files.`,
      );
      return undefined;
    }
  }

  /** The upgrade holds the process up, so the message has to be on its way before. */
  async #sayUpgrade(): Promise<void> {
    if (this.#tellPeople(UPGRADING) === 0) this.#options.notify(UPGRADING);
    await setTimeout(SENT_MS);
  }

  /** Earlier versions kept the words of sessions there, and would keep those of what is deleted. */
  async #removeWordIndexes(): Promise<void> {
    const folder = resolve(this.#options.variables.OXBOW_SESSIONS || this.#options.roots.data);
    await rm(join(folder, "search"), { recursive: true, force: true }).catch(() => {});
  }

  async #findKey(): Promise<ResolvedKey> {
    const { variables, roots, root, hint } = this.#options;
    const { resolveKey } = await import("../../sessions/key.js");
    const folder = resolve(variables.OXBOW_SESSIONS || roots.data);
    const when = this.#keychainUse();
    const found = await resolveKey({
      folder,
      database: databasePath(folder),
      machineKey: variables.OXBOW_MACHINE_KEY,
      passphrase: variables.OXBOW_PASSPHRASE,
      ...(when !== undefined && { keychain: { path: variables.PATH, platform: process.platform, avoid: root, when } }),
    });
    if (found.created !== undefined) hint(keyNews(await this.choice(), found));
    return found;
  }

  /** A home of its own (OXBOW_HOME) has its key with it, so that it can be moved and deleted as a whole. */
  #keychainUse(): "new" | "always" | undefined {
    const { settings, variables } = this.#options;
    if (settings.session_key.value === "keychain") return "always";
    const isOwnHome = Boolean(variables.OXBOW_HOME || variables.OXBOW_SESSIONS);
    return settings.session_key.value === "auto" && !isOwnHome ? "new" : undefined;
  }
}

function keyNews(choice: StoreChoice, { from, created, path = created, leftover }: ResolvedKey): string {
  const saved =
    choice.kind === "none"
      ? "sessions are not saved. The copies for /undo are encrypted."
      : STORES[choice.kind].saved(choice.folder);
  const needed = STORES[choice.kind === "none" ? "files" : choice.kind].withoutKey;
  if (from !== "keychain") return `${saved} Back up ${path}. ${needed}`;
  const copy = leftover && ` ${leftover} is a copy that opens them too: move it to a safe place.`;
  return `${saved} The key is in the keychain (session_key = "file" keeps it in a file).${copy ?? ""} ${needed}`;
}

function databasePath(folder: string): string {
  return join(folder, "sessions.db");
}

/** Throws what was expected. */
function readStoreSetting(text: string): string {
  if (text === "none" || parseStore(text) !== undefined) return text;
  throw new UsageError(`expected ${storeWords("none")}, got "${text}".`);
}
