/**
 * `place` is the session's number × 2^30 + the event's id, so that the log of a session is one run of neighbouring rows without
 * an index beside it. `names` holds kinds, originators, tools and outcomes once. `since` counts milliseconds from the creation
 * of the session: the numbers stay short. `link` ties an event to the one before it, `remains` is there when its content has
 * expired, `seal` ties the head to the session (chain.ts). `encoding`, `origin` and `holes` belong to payload.ts.
 *
 * There is no index on the activity of sessions: it changes with every append, and there are few enough of them to sort.
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
