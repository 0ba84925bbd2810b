/**
 * Looks for damage in the database file that no session's chain covers.
 *
 * 1. The structure: pages, indexes and their order, as SQLite itself checks them.
 * 2. The rows beside the events. A changed bit makes 16 random bytes of an encrypted file, which are next to never UTF-8; what is
 *    stored always is. Numbers of sessions and of spending are checked for plausibility.
 */

import type { Columns } from "../../system/sqlite/columns.js";
import type { Database } from "../../system/sqlite/database.js";
import { StoreError } from "../store.js";

const MOST = 20;
/** In milliseconds: the end of the year 9999. */
const LATEST = 253_402_300_799_999;

const TEXTS: readonly (readonly [table: string, columns: Columns])[] = [
  ["sessions", { id: "bytes", log: "bytes", cwd: "bytes", provider: "bytes", model: "bytes", title: "bytes?" }],
  ["names", { name: "bytes" }],
  ["ancestors", { id: "bytes", log: "bytes" }],
];

const SENSELESS: readonly (readonly [what: string, query: string])[] = [
  [
    "of a session",
    `FROM sessions WHERE id NOT GLOB 'sess_*' OR length(id) <> 31 OR log NOT GLOB 'log_*' OR pinned NOT IN (0, 1)
     OR created_at NOT BETWEEN 0 AND ${LATEST} OR active_at NOT BETWEEN 0 AND ${LATEST} OR noticed_at NOT BETWEEN 0 AND ${LATEST}`,
  ],
  [
    "of what was spent",
    `FROM spending WHERE calls NOT BETWEEN 1 AND 1000000000 OR input < 0 OR output < 0 OR cache_read < 0 OR cache_write < 0
     OR session NOT IN (SELECT number FROM sessions)`,
  ],
];

/** One sentence for each problem. */
export function inspectDatabase(database: Database): readonly string[] {
  const problems = attempt(() => structure(database));
  // Rows of a broken structure would only say the same again.
  if (problems.length > 0) return problems;
  const texts = TEXTS.flatMap(([table, columns]) => attempt(() => unreadable(database, table, columns)));
  const numbers = SENSELESS.flatMap(([what, query]) => attempt(() => senseless(database, what, query)));
  return [...texts, ...numbers];
}

function structure(database: Database): readonly string[] {
  const rows = database.select({ words: ["text", "integrity_check"] }, `FROM pragma_integrity_check(${MOST})`);
  return rows.flatMap(({ words }) => (words === "ok" ? [] : [damaged(words.replace(/\s+/g, " "))]));
}

function unreadable(database: Database, table: string, columns: Columns): readonly string[] {
  const rows = database.select(columns, `FROM ${table}`);
  const count = rows.filter((row) =>
    Object.values(row).some((value) => Buffer.isBuffer(value) && !isText(value)),
  ).length;
  return count === 0 ? [] : [damaged(`${count} of the rows in ${table} cannot be read as text`)];
}

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString("utf8"), "utf8").equals(bytes);
}

function senseless(database: Database, what: string, query: string): readonly string[] {
  const count = database.first({ count: ["integer", "count(*)"] }, query)?.count ?? 0;
  return count === 0 ? [] : [damaged(`${count} of the rows ${what} make no sense`)];
}

function damaged(how: string): string {
  return `The session database is damaged: ${how}.`;
}

function attempt(look: () => readonly string[]): readonly string[] {
  try {
    return look();
  } catch (error) {
    if (error instanceof StoreError) return [error.message];
    throw error;
  }
}
