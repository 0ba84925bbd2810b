/** The rows of `sessions`: the record of a session, and the head of its chain. */
import type { SessionEndReason } from "../../protocol/events.js";
import type { LogId, SessionId } from "../../protocol/ids.js";
import type { Bindable } from "../../system/sqlite/bindable.js";
import type { Row } from "../../system/sqlite/columns.js";
import type { Database } from "../../system/sqlite/database.js";
import { type Ancestor, Ancestors } from "../ancestors.js";
import { noSession, sessionExists } from "../log-rules.js";
import type { NewSession, SessionFilter, SessionPatch, SessionRecord } from "../store.js";
import { toMilliseconds, toTimestamp } from "../timestamp.js";
import { Chain, FIRST_LINK } from "./chain.js";

const RECORD = {
  id: "text",
  log: "text",
  cwd: "text",
  provider: "text",
  model: "text",
  title: "text?",
  created_at: "integer",
  active_at: "integer",
  branch_session: "text?",
  branch_event: "integer?",
  parent_session: "text?",
  parent_turn: "text?",
  parent_call: "text?",
  profile: "text?",
  pinned: "integer",
  ended: "text?",
  noticed_at: "integer?",
  expired_to: "integer",
  last_event: "integer",
} as const;

const HEAD = {
  number: "integer",
  log: "text",
  branch_session: "text?",
  last_event: "integer",
  last_link: "bytes",
  seal: "bytes",
  created_at: "integer",
  active_at: "integer",
  expired_to: "integer",
} as const;

export interface Head extends Row<typeof HEAD> {
  readonly session: SessionId;
  readonly chain: Chain;
  readonly ancestors: Ancestors<Chain>;
}

const ANCESTOR = { last_event: "integer", id: "text", log: "text" } as const;

const NO_DRAFT = "number NOT IN (SELECT session FROM drafts)";

export class SessionTable {
  readonly #database: Database;
  readonly #chainKey: Uint8Array;
  readonly #chains = new Map<string, Chain>();
  /** Those that this store builds. */
  readonly #drafts = new Set<SessionId>();
  /** Heads of the current transaction, which no other process can move. */
  #heads: Map<SessionId, { head: Head; isMoved: boolean }> | undefined;

  constructor(database: Database, chainKey: Uint8Array) {
    this.#database = database;
    this.#chainKey = chainKey;
  }

  /** Checks, and returns what writes. */
  insertion(session: NewSession, { draft = false }: { readonly draft?: boolean } = {}): () => void {
    const created = toMilliseconds(session.created_at);
    const taken = this.#database.first({ id: "text" }, "FROM sessions WHERE id = ? OR log = ?", [
      session.id,
      session.log,
    ]);
    if (taken !== undefined) throw sessionExists(session.id);
    return () => {
      this.#database.run(
        `INSERT INTO sessions (id, log, cwd, provider, model, title, created_at, active_at, branch_session, branch_event,
           parent_session, parent_turn, parent_call, profile, last_link, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          session.id,
          session.log,
          session.cwd,
          session.provider,
          session.model,
          session.title ?? null,
          created,
          created,
          session.branch_of?.session ?? null,
          session.branch_of?.event ?? null,
          session.parent?.session ?? null,
          session.parent?.turn ?? null,
          session.parent?.call ?? null,
          session.profile ?? null,
          FIRST_LINK,
          this.#chain(session.id, session.log).seal(0, FIRST_LINK, 0),
        ],
      );
      if (!draft) return;
      this.#database.run("INSERT INTO drafts (session) SELECT number FROM sessions WHERE id = ?", [session.id]);
      this.#drafts.add(session.id);
    };
  }

  publish({ number, session }: Head): void {
    this.#database.run("DELETE FROM drafts WHERE session = ?", [number]);
    this.#drafts.delete(session);
  }

  /** This store builds it. */
  builds(session: SessionId): boolean {
    return this.#drafts.has(session);
  }

  /** Sessions that are being built, or that a killed process has left. */
  drafts(): SessionId[] {
    const rows = this.#database.select({ id: "text" }, "FROM sessions WHERE number IN (SELECT session FROM drafts)");
    return rows.map(({ id }) => id as SessionId);
  }

  /** A draft is found only by the store that builds it. */
  find(session: SessionId): SessionRecord | undefined {
    const visible = this.#drafts.has(session) ? "" : `AND ${NO_DRAFT}`;
    const row = this.#database.first(RECORD, `FROM sessions WHERE id = ? ${visible}`, [session]);
    return row && toRecord(row);
  }

  list({ cwd, pinned, parent, limit }: SessionFilter): SessionRecord[] {
    const where: string[] = [NO_DRAFT];
    const values: Bindable[] = [];
    if (cwd !== undefined) {
      where.push("cwd = ?");
      values.push(cwd);
    }
    if (pinned !== undefined) {
      where.push("pinned = ?");
      values.push(pinned);
    }
    if (parent === "none") where.push("parent_session IS NULL");
    else if (parent !== undefined) {
      where.push("parent_session = ?");
      values.push(parent);
    }
    const rest = `FROM sessions WHERE ${where.join(" AND ")} ORDER BY active_at DESC, number DESC LIMIT ?`;
    return this.#database.select(RECORD, rest, [...values, limit ?? -1]).map(toRecord);
  }

  /** Within a transaction: heads are read once, and written once when all that moves them is done. */
  together(work: () => void): void {
    const heads = new Map<SessionId, { head: Head; isMoved: boolean }>();
    this.#heads = heads;
    try {
      work();
    } finally {
      this.#heads = undefined;
    }
    for (const { head, isMoved } of heads.values()) if (isMoved) this.#write(head);
  }

  head(session: SessionId): Head {
    const known = this.#heads?.get(session);
    if (known !== undefined) return known.head;
    const row = this.#database.first(HEAD, "FROM sessions WHERE id = ?", [session]);
    if (row === undefined) throw noSession(session);
    const chain = this.#chain(session, row.log);
    const before = row.branch_session === undefined ? [] : this.#ancestors(row.number);
    const ancestors = new Ancestors({ session, log: row.log as LogId, chain }, before, (log) =>
      this.#chain(log.session, log.log),
    );
    const head = { ...row, session, chain, ancestors };
    this.#heads?.set(session, { head, isMoved: false });
    return head;
  }

  #ancestors(number: number): Ancestor[] {
    const rows = this.#database.select(ANCESTOR, "FROM ancestors WHERE session = ? ORDER BY last_event", [number]);
    return rows.map(({ last_event: last, id, log }) => ({ last, session: id as SessionId, log: log as LogId }));
  }

  /** A new session is a branch: its first events come from these logs. Moving its head seals that. */
  beginBranch(session: SessionId, ancestors: readonly Ancestor[], expiredTo: number): Head {
    const { number } = this.head(session);
    this.#database.run("UPDATE sessions SET expired_to = ? WHERE number = ?", [expiredTo, number]);
    for (const { last, session: id, log } of ancestors) {
      this.#database.run("INSERT INTO ancestors (session, last_event, id, log) VALUES (?, ?, ?, ?)", [
        number,
        last,
        id,
        log,
      ]);
    }
    this.#heads?.delete(session);
    return this.head(session);
  }

  moveHead(head: Head, to: { readonly lastEvent: number; readonly lastLink: Buffer; readonly activeAt: number }): void {
    const moved = { ...head, last_event: to.lastEvent, last_link: to.lastLink, active_at: to.activeAt };
    if (this.#heads === undefined) this.#write(moved);
    else this.#heads.set(head.session, { head: moved, isMoved: true });
  }

  #write({ number, chain, last_event, last_link, active_at, expired_to }: Head): void {
    this.#database.run("UPDATE sessions SET last_event = ?, last_link = ?, seal = ?, active_at = ? WHERE number = ?", [
      last_event,
      last_link,
      chain.seal(last_event, last_link, expired_to),
      active_at,
      number,
    ]);
  }

  moveExpiry(head: Head, expiredTo: number): void {
    const seal = head.chain.seal(head.last_event, head.last_link, expiredTo);
    this.#database.run("UPDATE sessions SET expired_to = ?, seal = ? WHERE number = ?", [expiredTo, seal, head.number]);
  }

  /** Checks, and returns what writes. */
  change({ number }: Head, { noticed_at, ...patch }: SessionPatch): () => void {
    const columns: [string, Bindable][] = [];
    for (const name of ["title", "provider", "model", "pinned", "ended"] as const) {
      const value = patch[name];
      if (value !== undefined) columns.push([name, value]);
    }
    if (noticed_at !== undefined) columns.push(["noticed_at", noticed_at === null ? null : toMilliseconds(noticed_at)]);
    return () => {
      if (columns.length === 0) return;
      const assignments = columns.map(([name]) => `${name} = ?`).join(", ");
      const values = columns.map(([, value]) => value);
      this.#database.run(`UPDATE sessions SET ${assignments} WHERE number = ?`, [...values, number]);
    };
  }

  keepStart(session: SessionId, start: string): void {
    const row = "INSERT OR REPLACE INTO starts (session, start) SELECT number, ? FROM sessions WHERE id = ?";
    this.#database.run(row, [start, session]);
  }

  startOf(session: SessionId): string | undefined {
    const place = "FROM starts WHERE session = (SELECT number FROM sessions WHERE id = ?)";
    return this.#database.first({ start: "text" }, place, [session])?.start;
  }

  delete({ number, session }: Head): void {
    this.#heads?.delete(session);
    this.#database.run("DELETE FROM drafts WHERE session = ?", [number]);
    this.#drafts.delete(session);
    this.#database.run("DELETE FROM ancestors WHERE session = ?", [number]);
    this.#database.run("DELETE FROM starts WHERE session = ?", [number]);
    this.#database.run("DELETE FROM sessions WHERE number = ?", [number]);
  }

  #chain(session: string, log: string): Chain {
    const name = `${session} ${log}`;
    let chain = this.#chains.get(name);
    if (chain === undefined) {
      chain = new Chain(this.#chainKey, { session, log });
      this.#chains.set(name, chain);
    }
    return chain;
  }
}

function toRecord(row: Row<typeof RECORD>): SessionRecord {
  const { branch_session: session, branch_event: event, parent_session, parent_turn, parent_call } = row;
  const isSubagent = parent_session !== undefined && parent_turn !== undefined && parent_call !== undefined;
  const parent = { session: parent_session, turn: parent_turn, call: parent_call };
  return {
    id: row.id as SessionId,
    log: row.log as LogId,
    cwd: row.cwd,
    provider: row.provider,
    model: row.model,
    created_at: toTimestamp(row.created_at),
    active_at: toTimestamp(row.active_at),
    pinned: row.pinned === 1,
    last_event: row.last_event,
    expired_to: row.expired_to,
    ...(row.noticed_at === undefined ? {} : { noticed_at: toTimestamp(row.noticed_at) }),
    ...(row.title === undefined ? {} : { title: row.title }),
    ...(row.profile === undefined ? {} : { profile: row.profile }),
    ...(row.ended === undefined ? {} : { ended: row.ended as SessionEndReason }),
    ...(session === undefined || event === undefined ? {} : { branch_of: { session: session as SessionId, event } }),
    ...(isSubagent ? { parent: parent as NonNullable<SessionRecord["parent"]> } : {}),
  };
}
