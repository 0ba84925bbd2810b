/**
 * The migrations of the session database. One that was released is never changed.
 *
 * `place` is the session's number × 2^30 + the event's id, so that the log of a session is one run of neighbouring rows without
 * an index beside it. `names` holds kinds, originators, tools and outcomes once. `since` counts milliseconds from the creation
 * of the session: the numbers stay short. `link` ties an event to the one before it, `remains` is there when its content has
 * expired, `seal` ties the head to the session (chain.ts). `encoding`, `origin` and `holes` belong to payload.ts.
 *
 * There is no index on the activity of sessions: it changes with every append, and there are few enough of them to sort.
 */
import type { Database } from "../../system/sqlite/database.js";
import { type MigrateOptions as AllOptions, migrate as migrateWith } from "../../system/sqlite/migrate.js";

const sessions = `
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  log TEXT NOT NULL UNIQUE,
  cwd TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  title TEXT,
  created_at INTEGER NOT NULL,
  active_at INTEGER NOT NULL,
  branch_session TEXT,
  branch_event INTEGER,
  pinned INTEGER NOT NULL DEFAULT 0,
  ended TEXT,
  noticed_at INTEGER,
  expired_to INTEGER NOT NULL DEFAULT 0,
  last_event INTEGER NOT NULL DEFAULT 0,
  last_link BLOB NOT NULL,
  seal BLOB NOT NULL
) STRICT;

CREATE TABLE names (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE events (
  place INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  originator INTEGER NOT NULL,
  since INTEGER NOT NULL,
  encoding INTEGER NOT NULL,
  origin INTEGER,
  body BLOB NOT NULL,
  holes BLOB,
  remains BLOB,
  link BLOB NOT NULL
) STRICT;

CREATE TABLE blobs (
  number INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  encoding INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE TABLE blob_uses (
  blob INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (blob, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses_by_place ON blob_uses (place);

CREATE TABLE calls (
  call BLOB PRIMARY KEY,
  session INTEGER NOT NULL,
  tool INTEGER NOT NULL,
  mutating INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  args_hash TEXT,
  outcome INTEGER,
  took_ms INTEGER,
  result_event INTEGER,
  note TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX open_calls ON calls (session) WHERE outcome IS NULL;
`;

/**
 * Lists what was spent, kept beside the log so that reports need not read it: a row for each session, model and quarter of an hour
 * (`quarter` counts them since 1970). `nano_usd` are thousand-millionths of a dollar: integers add up exactly.
 */
const spending = `
CREATE TABLE spending (
  session INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  provider INTEGER NOT NULL,
  model INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  elapsed_ms INTEGER NOT NULL,
  nano_usd INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  PRIMARY KEY (session, quarter, provider, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_by_quarter ON spending (quarter);
`;

/**
 * The messages of whole turns, beside the log (stretches.ts). `place` is that of the last event that a stretch stands for,
 * `after` the id of the event before its first.
 */
const stretches = `
CREATE TABLE stretches (
  place INTEGER PRIMARY KEY,
  after INTEGER NOT NULL,
  encoding INTEGER NOT NULL,
  body BLOB NOT NULL,
  holes BLOB NOT NULL,
  tag BLOB NOT NULL
) STRICT;
`;

/** Sessions during a copy or an import: only their creator sees them until their row here is removed. */
const drafts = `
CREATE TABLE drafts (
  session INTEGER PRIMARY KEY
) STRICT;
`;

/** The call of another session that a session works for: such a session is a subagent. */
const subagents = `
ALTER TABLE sessions ADD COLUMN parent_session TEXT;
ALTER TABLE sessions ADD COLUMN parent_turn TEXT;
ALTER TABLE sessions ADD COLUMN parent_call TEXT;
`;

/** The profile that a session began with. */
const profiles = `
ALTER TABLE sessions ADD COLUMN profile TEXT;
`;

/** The logs that the first events of a branch were written to, up to which event (ancestors.ts). */
const ancestors = `
CREATE TABLE ancestors (
  session INTEGER NOT NULL,
  last_event INTEGER NOT NULL,
  id TEXT NOT NULL,
  log TEXT NOT NULL,
  PRIMARY KEY (session, last_event)
) STRICT, WITHOUT ROWID;
`;

/** The environment and the umask of the terminal that a session works for, as JSON. */
const starts = `
CREATE TABLE starts (
  session INTEGER PRIMARY KEY,
  start TEXT NOT NULL
) STRICT;
`;

/** The conversation of a session up to an event, instead of the condensed turns of earlier versions (snapshots.ts). */
const snapshots = `
DROP TABLE stretches;
CREATE TABLE snapshots (
  session INTEGER PRIMARY KEY,
  event INTEGER NOT NULL,
  body BLOB NOT NULL,
  tag BLOB NOT NULL
) STRICT;
`;

/** Calls whose changes are applied as a whole or not at all. */
const wholeCalls = `
ALTER TABLE calls ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;
`;

export const MIGRATIONS: readonly string[] = [
  sessions,
  spending,
  stretches,
  drafts,
  subagents,
  profiles,
  ancestors,
  starts,
  snapshots,
  wholeCalls,
];

export type MigrateOptions = Pick<AllOptions, "wall"> & Partial<Pick<AllOptions, "migrations">>;

/** Migrates the schema to our version; returns the number of migrations. */
export function migrate(database: Database, options: MigrateOptions): number {
  return migrateWith(database, { migrations: MIGRATIONS, ...options });
}
