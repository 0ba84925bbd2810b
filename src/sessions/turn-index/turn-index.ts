/**
 * Words of turns in an encrypted database of its own, as a full-text index without the text.
 *
 * 1. A row covers the events up to the end of a turn. What comes behind the last ended turn is not in the index.
 * 2. A session that lost content since, or whose log is another one, is indexed anew.
 * 3. Several processes may index the same session: in each commit a row is added only where the one before it ended.
 */
import type { Clock } from "../../base/clock.js";
import { LEAST_ALIKE } from "../../base/rank-texts.js";
import { tellingWords } from "../../base/words/index-words.js";
import type { SessionId } from "../../protocol/ids.js";
import { Database } from "../../system/sqlite/database.js";
import { migrate } from "../../system/sqlite/migrate.js";
import { PassageReader } from "../passages.js";
import { indexKey } from "../sqlite/keys.js";
import type { SessionRecord, TurnIndex, TurnMatches } from "../store.js";
import type { LateTurnIndexOptions } from "./late-turn-index.js";

const SCHEMA = `
CREATE TABLE reach (
  session TEXT PRIMARY KEY,
  log TEXT NOT NULL,
  event INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  expired_to INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE spans (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  before INTEGER NOT NULL
) STRICT;
CREATE INDEX spans_by_session ON spans (session);
CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1, tokenize='ascii');
`;

/** The words were found by another rule before. */
const OTHER_WORDS = `
DELETE FROM reach;
DELETE FROM spans;
DROP TABLE words;
CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1, tokenize='ascii');
`;

interface Reach {
  readonly event: number;
  readonly turns: number;
}

interface Row extends Reach {
  readonly first: number;
  readonly before: number;
  readonly words: string;
}

/** Rows of one commit. */
const BATCH = 50;
/** Longer outputs are mostly noise; the beginning of a turn is in the index in any case. */
const MOST_WORDS = 20_000;

export class SqliteTurnIndex implements TurnIndex {
  readonly #database: Database;
  readonly #events: LateTurnIndexOptions["events"];
  readonly #clock: Clock;

  private constructor(database: Database, { events, clock }: LateTurnIndexOptions) {
    this.#database = database;
    this.#events = events;
    this.#clock = clock;
  }

  static async open(options: LateTurnIndexOptions): Promise<SqliteTurnIndex> {
    const { path, key, clock } = options;
    const database = await Database.open({ path, key: indexKey(key), noun: "search index" });
    try {
      migrate(database, { wall: () => clock.wall(), migrations: [SCHEMA, OTHER_WORDS] });
    } catch (error) {
      database.close();
      throw error;
    }
    return new SqliteTurnIndex(database, options);
  }

  async find(
    sessions: readonly SessionRecord[],
    words: readonly string[],
    { limit, budgetMs, signal }: Parameters<TurnIndex["find"]>[2],
  ): Promise<TurnMatches> {
    const deadline = this.#clock.now() + budgetMs;
    const reach = new Map<SessionId, Reach>();
    for (const record of sessions) {
      signal?.throwIfAborted();
      const known = this.#known(record);
      const isBehind = known === undefined || known.event < record.last_event;
      reach.set(
        record.id,
        isBehind && this.#clock.now() < deadline ? await this.#takeUp(record, deadline) : (known ?? NONE),
      );
    }
    return { spans: this.#matching(sessions, words, limit), reach };
  }

  /** Merging the index removes the words for good. */
  forget(session: SessionId): void {
    const isThere = this.#database.first({ found: ["integer", "1"] }, "FROM reach WHERE session = ?", [session]);
    if (isThere === undefined) return;
    this.#database.transaction("NORMAL", () => {
      this.#drop(session);
      this.#database.run("INSERT INTO words (words) VALUES ('optimize')");
    });
    this.#database.shrink();
  }

  /** For stores whose sessions a user may delete without Oxbow. */
  keepOnly(sessions: readonly SessionId[]): void {
    const there = new Set<string>(sessions);
    for (const { session } of this.#database.select({ session: "text" }, "FROM reach"))
      if (!there.has(session)) this.forget(session as SessionId);
  }

  close(): void {
    this.#database.close();
  }

  #matching(sessions: readonly SessionRecord[], words: readonly string[], limit: number) {
    if (words.length === 0) return [];
    // Longer words also find those that begin with them, as the ranking of passages does.
    const wanted = words
      .map((word) => `"${word.replaceAll('"', "")}"${word.length < LEAST_ALIKE ? "" : " *"}`)
      .join(" OR ");
    const rows = this.#database.select(
      {
        session: ["text", "s.session"],
        from: ["integer", "s.first"],
        to: ["integer", "s.last"],
        before: ["integer", "s.before"],
      },
      `FROM words JOIN spans s ON s.id = words.rowid
       WHERE words MATCH ? AND s.session IN (SELECT value FROM json_each(?)) ORDER BY bm25(words), s.id DESC LIMIT ?`,
      [wanted, JSON.stringify(sessions.map(({ id }) => id)), limit],
    );
    return rows.map((row) => ({ ...row, session: row.session as SessionId }));
  }

  /** Undefined if nothing of it is indexed, or what is indexed no longer holds. */
  #known({ id, log, expired_to, last_event }: SessionRecord): Reach | undefined {
    const columns = { log: "text", event: "integer", turns: "integer", expired_to: "integer" } as const;
    const row = this.#database.first(columns, "FROM reach WHERE session = ?", [id]);
    if (row === undefined) return undefined;
    if (row.log === log && row.expired_to === expired_to && row.event <= last_event) return row;
    this.#database.transaction("NORMAL", () => this.#drop(id));
    return undefined;
  }

  async #takeUp(record: SessionRecord, deadline: number): Promise<Reach> {
    let reach = this.#known(record) ?? NONE;
    let rows: Row[] = [];
    const write = () => {
      reach = this.#add(record, reach, rows);
      rows = [];
    };
    for await (const row of this.#rows(record, reach)) {
      rows.push(row);
      if (rows.length < BATCH) continue;
      write();
      if (this.#clock.now() >= deadline) return reach;
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (rows.length > 0) write();
    return reach;
  }

  async *#rows({ id }: SessionRecord, { event: after, turns }: Reach): AsyncGenerator<Row> {
    const reader = new PassageReader(turns);
    let words: string[] = [];
    let first = after + 1;
    let before = turns;
    for await (const event of this.#events(id, { after })) {
      for (const { text } of reader.take(event)) if (words.length < MOST_WORDS) words.push(...tellingWords(text));
      if (event.kind !== "TurnEnded") continue;
      yield { first, before, event: event.id, turns: reader.turns, words: words.join(" ") };
      words = [];
      first = event.id + 1;
      before = reader.turns;
    }
  }

  /** How far the index reaches afterwards; another process may have been faster. */
  #add({ id, log, expired_to }: SessionRecord, from: Reach, rows: readonly Row[]): Reach {
    return this.#database.transaction("NORMAL", () => {
      const columns = { event: "integer", turns: "integer" } as const;
      const known = this.#database.first(columns, "FROM reach WHERE session = ?", [id]) ?? NONE;
      if (known.event !== from.event) return known;
      for (const { first, event, before, words } of rows) {
        this.#database.run("INSERT INTO spans (session, first, last, before) VALUES (?, ?, ?, ?)", [
          id,
          first,
          event,
          before,
        ]);
        this.#database.run("INSERT INTO words (rowid, text) VALUES (last_insert_rowid(), ?)", [words]);
      }
      const { event, turns } = rows.at(-1) ?? from;
      this.#database.run(
        "INSERT OR REPLACE INTO reach (session, log, event, turns, expired_to) VALUES (?, ?, ?, ?, ?)",
        [id, log, event, turns, expired_to],
      );
      return { event, turns };
    });
  }

  #drop(session: SessionId): void {
    this.#database.run("DELETE FROM words WHERE rowid IN (SELECT id FROM spans WHERE session = ?)", [session]);
    this.#database.run("DELETE FROM spans WHERE session = ?", [session]);
    this.#database.run("DELETE FROM reach WHERE session = ?", [session]);
  }
}

const NONE: Reach = { event: 0, turns: 0 };
