/** The folders of all sessions: how they come, go and are found. */
import { randomBytes } from "node:crypto";
import { constants, copyFile, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { type CallId, isId, type SessionId } from "../../protocol/ids.js";
import { syncFolder } from "../../system/sync-folder.js";
import { type PreparedEvent, sessionExists } from "../log-rules.js";
import {
  type NewSession,
  type SessionFilter,
  type SessionRecord,
  type Spending,
  type SpendingFilter,
  StoreError,
} from "../store.js";
import { linesAfter, NO_EVENTS, readTailOf, type Tail } from "./event-log.js";
import { errnoOf, guarded, ifThere } from "./file-errors.js";
import { withLock } from "./lock.js";
import { readConf, type SessionPaths, sessionPaths } from "./open-session.js";
import { fingerprint, type Inherited, renderConf } from "./session-conf.js";
import { readSpending } from "./spending.js";

export interface CatalogOptions {
  readonly root: string;
  readonly key: Uint8Array | undefined;
  readonly clock: Clock;
  /** A live process has the session. */
  readonly isLeased: (session: SessionId) => boolean;
}

/** The beginning of another session's log. */
export interface InheritedLog extends Inherited {
  readonly events: string;
  readonly bytes: number;
}

/** A folder that is being created or removed, by its name. */
const MAKING = ".new-";
/** A session that is being copied or imported; its maker has the lease. */
const DRAFT = ".draft-";
const GOING = ".gone-";
/** Far longer than it takes to create a folder. */
const ABANDONED_MS = 10 * 60_000;
const READ_AT_ONCE = 32;

export class SessionCatalog {
  readonly #options: CatalogOptions;
  /** Those that this store builds. */
  readonly #drafts = new Set<SessionId>();
  /** The log of each session that was read; it never changes. */
  readonly #logs = new Map<SessionId, string>();

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  paths(session: SessionId): SessionPaths {
    const { root } = this.#options;
    if (!this.#drafts.has(session)) return sessionPaths(root, session);
    return sessionPaths(root, session, join(root, `${DRAFT}${session}`));
  }

  /** A session with this id stays hidden until `publish`. Leftovers of a killed process are removed. */
  async beginDraft(session: SessionId): Promise<void> {
    if ((await this.find(session)) !== undefined) throw sessionExists(session);
    this.#drafts.add(session);
    await discard(this.paths(session).folder);
  }

  /** It failed, or its session exists. */
  async endDraft(session: SessionId): Promise<void> {
    if (!this.#drafts.has(session)) return;
    await discard(this.paths(session).folder);
    this.#drafts.delete(session);
  }

  /** Under the session's lock. */
  async publish(session: SessionId): Promise<void> {
    const { root } = this.#options;
    const { folder } = this.paths(session);
    try {
      await guarded(folder, async () => {
        await rename(folder, sessionPaths(root, session).folder);
        await syncFolder(root);
      });
    } catch (error) {
      if (errnoOf(error) === "ENOTEMPTY" || errnoOf(error) === "EEXIST") throw sessionExists(session);
      throw error;
    }
    this.#drafts.delete(session);
  }

  /** Makes the root, and finishes what crashes have left. */
  async prepare(): Promise<void> {
    const { root, clock } = this.#options;
    await guarded(root, () => mkdir(root, { recursive: true, mode: 0o700 }));
    for (const name of await guarded(root, () => readdir(root))) {
      const path = join(root, name);
      const abandoned = async () => {
        const found = await ifThere(() => stat(path));
        return found !== undefined && clock.wall() - found.mtimeMs > ABANDONED_MS;
      };
      const isLeft = async () => {
        if (name.startsWith(MAKING)) return abandoned();
        const session = name.startsWith(DRAFT) ? name.slice(DRAFT.length) : "";
        return isId("sess", session) && !this.#options.isLeased(session);
      };
      if (name.startsWith(GOING) || (await isLeft())) await discard(path);
    }
  }

  /** With its first events, if there are any: new ones, or those that a branch takes over. */
  async create(session: NewSession, events: readonly PreparedEvent[] = [], inherited?: InheritedLog): Promise<void> {
    if (await this.#isTaken(session)) throw sessionExists(session.id);
    const { root, key } = this.#options;
    const folder = join(root, `${MAKING}${randomBytes(8).toString("hex")}`);
    const paths = sessionPaths(root, session.id, folder);
    const { text } = linesAfter(NO_EVENTS, events, session.id);
    try {
      await guarded(folder, async () => {
        await mkdir(folder, { mode: 0o700 });
        await mkdir(paths.messages, { mode: 0o700 });
        if (inherited === undefined) await writeNew(paths.events, text);
        else await copyBeginning(inherited, paths.events);
        for (const path of [paths.ledger, paths.index]) await writeNew(path, "");
        await writeNew(paths.conf, renderConf(session, fingerprint(key, session), inherited));
        await syncFolder(folder);
        await rename(folder, this.paths(session.id).folder);
        await syncFolder(root);
      });
    } catch (error) {
      await discard(folder);
      if (errnoOf(error) === "ENOTEMPTY" || errnoOf(error) === "EEXIST") throw sessionExists(session.id);
      throw error;
    }
    this.#logs.set(session.id, session.log);
  }

  /** Under the session's lock. */
  async remove(session: SessionId): Promise<void> {
    const { root, clock } = this.#options;
    const paths = this.paths(session);
    const going = join(root, `${GOING}${randomBytes(8).toString("hex")}`);
    await withLock(paths.messagesLock, { clock }, () =>
      guarded(paths.folder, async () => {
        await readConf(paths, session);
        await rename(paths.folder, going);
        await syncFolder(root);
      }),
    );
    this.#logs.delete(session);
    this.#drafts.delete(session);
    await discard(going);
  }

  async find(session: SessionId): Promise<SessionRecord | undefined> {
    try {
      return await this.#record(session);
    } catch (error) {
      if (error instanceof StoreError && error.code === "not-found") return undefined;
      throw error;
    }
  }

  async list({ cwd, pinned, parent, limit }: SessionFilter): Promise<readonly SessionRecord[]> {
    const records = await inGroups(await this.#sessions(), async (session) => {
      try {
        return await this.#record(session);
      } catch (error) {
        // A damaged or vanishing one does not hide the others.
        if (error instanceof StoreError) return undefined;
        throw error;
      }
    });
    return records
      .filter((record) => record !== undefined)
      .filter((record) => cwd === undefined || record.cwd === cwd)
      .filter((record) => pinned === undefined || record.pinned === pinned)
      .filter((record) => parent === undefined || parent === (record.parent?.session ?? "none"))
      .sort((a, b) => compare(b.active_at, a.active_at) || compare(b.id, a.id))
      .slice(0, limit);
  }

  /** Folders of sessions without a readable `session.conf`. */
  async unlisted(): Promise<readonly { readonly id: SessionId; readonly message: string }[]> {
    const found = await inGroups(await this.#sessions(), async (id) => {
      try {
        await this.#record(id);
        return [];
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        const isThere = (await ifThere(() => stat(this.paths(id).folder))) !== undefined;
        const message =
          error.code === "not-found" ? `${this.paths(id).conf} is missing. Restore a copy of it.` : error.message;
        return isThere ? [{ id, message }] : [];
      }
    });
    return found.flat();
  }

  async spending({ session, cwd, since }: SpendingFilter): Promise<readonly Spending[]> {
    const from = since === undefined ? undefined : Date.parse(since);
    const sessions = (await this.#sessions()).filter((id) => session === undefined || id === session);
    const rows = await inGroups(sessions, async (id) => {
      const paths = this.paths(id);
      const conf = await readConf(paths, id).catch(() => undefined);
      if (conf === undefined || (cwd !== undefined && conf.conf.cwd !== cwd)) return [];
      return readSpending(paths.events, conf.conf, from);
    });
    return rows.flat().sort((a, b) => compare(a.from, b.from) || compare(a.session, b.session));
  }

  /** The session whose ledger knows a call. */
  async sessionOf(call: CallId): Promise<SessionId | undefined> {
    const needle = `"call":${JSON.stringify(call)}`;
    const newestFirst = (await this.#sessions()).sort().reverse();
    const found = await inGroups(newestFirst, async (session) => {
      const ledger = await ifThere(() => readFile(this.paths(session).ledger, "utf8"));
      return ledger?.includes(needle) ? session : undefined;
    });
    return found.find((session) => session !== undefined);
  }

  async #record(session: SessionId): Promise<SessionRecord> {
    const paths = this.paths(session);
    const { conf } = await readConf(paths, session);
    const { chain: _chain, copied_to: _copied, ancestors: _ancestors, ...known } = conf;
    const { id, ts } = await this.#tail(paths);
    return { ...known, last_event: id, active_at: ts !== undefined && ts > conf.created_at ? ts : conf.created_at };
  }

  /** A session with a missing or damaged log is still listed: reading it reports the problem. */
  async #tail(paths: SessionPaths): Promise<Pick<Tail, "id" | "ts">> {
    try {
      return await readTailOf(paths.events);
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "damaged") throw error;
      const changed = await ifThere(() => stat(paths.conf));
      return { id: 0, ts: changed?.mtime.toISOString() };
    }
  }

  async #isTaken({ id, log }: NewSession): Promise<boolean> {
    const sessions = await this.#sessions();
    if (sessions.includes(id) && (await this.find(id)) !== undefined) return true;
    const unknown = sessions.filter((session) => !this.#logs.has(session));
    await inGroups(unknown, async (session) => {
      const found = await readConf(this.paths(session), session).catch(() => undefined);
      if (found !== undefined) this.#logs.set(session, found.conf.log);
    });
    return sessions.some((session) => this.#logs.get(session) === log);
  }

  async #sessions(): Promise<SessionId[]> {
    const { root } = this.#options;
    return (await guarded(root, () => readdir(root))).filter((name) => isId("sess", name));
  }
}

async function discard(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

/** The lines keep their form; a file system that can share the bytes of two files does. */
async function copyBeginning({ events, bytes }: InheritedLog, path: string): Promise<void> {
  await copyFile(events, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const handle = await open(path, "r+");
  try {
    await handle.chmod(0o600);
    await handle.truncate(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(text);
    if (text !== "") await handle.sync();
  } finally {
    await handle.close();
  }
}

async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += READ_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + READ_AT_ONCE).map(work))));
  }
  return results;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
