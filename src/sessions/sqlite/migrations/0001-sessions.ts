/**
 * `place` is the session's number × 2^30 + the event's id, so that the log of a session is one run of neighbouring rows without
 * an index beside it. `names` holds kinds and originators once. `link` ties an event to the one before it, `seal` the
 * head to the session (chain.ts). `encoding` and `holes` belong to payload.ts.
 */
export const sql = `
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
  last_event INTEGER NOT NULL DEFAULT 0,
  last_link BLOB NOT NULL,
  seal BLOB NOT NULL
) STRICT;
CREATE INDEX sessions_by_activity ON sessions (active_at);
CREATE INDEX sessions_by_folder ON sessions (cwd, active_at);

CREATE TABLE names (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE events (
  place INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  originator INTEGER NOT NULL,
  ts INTEGER NOT NULL,
  encoding INTEGER NOT NULL,
  body BLOB NOT NULL,
  holes BLOB,
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

CREATE TABLE tool_call_intents (
  call_id TEXT PRIMARY KEY,
  session INTEGER NOT NULL,
  tool_name TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  is_mutating INTEGER NOT NULL,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_call_intents_by_session ON tool_call_intents (session);
CREATE TABLE tool_call_outcomes (
  call_id TEXT PRIMARY KEY REFERENCES tool_call_intents (call_id) ON DELETE CASCADE,
  outcome TEXT NOT NULL,
  completed_at INTEGER NOT NULL,
  result_event INTEGER,
  note TEXT
) STRICT, WITHOUT ROWID;
`;
