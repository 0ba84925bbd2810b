/** The schema of a retrieval store. One migration for each version; a released one is never changed. */

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    place TEXT NOT NULL UNIQUE,
    finished_at TEXT
  ) STRICT;
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    path TEXT NOT NULL UNIQUE,
    stamp TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    stored_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX documents_source ON documents (source);
  CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX chunks_document ON chunks (document);
  -- The words come from index-words.ts; the index only compares them.
  CREATE VIRTUAL TABLE chunk_words USING fts5 (title, content, content='', contentless_delete=1, tokenize='ascii');
  INSERT INTO chunk_words (chunk_words, rank) VALUES ('rank', 'bm25(2.0, 1.0)');
  -- One bit for each dimension, apart from the rest: all of these are read into memory.
  CREATE TABLE codes (chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE, bits BLOB NOT NULL) STRICT;
  CREATE TABLE vectors (chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE, bytes BLOB NOT NULL) STRICT;
  CREATE TRIGGER forget_words AFTER DELETE ON chunks BEGIN
    DELETE FROM chunk_words WHERE rowid = old.id;
  END;
  `,
  `
  -- Sources may overlap: a document stays as long as one of them has it. documents.source is one of these.
  CREATE TABLE holdings (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    source INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    PRIMARY KEY (document, source)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX holdings_source ON holdings (source);
  INSERT INTO holdings (document, source) SELECT id, source FROM documents;
  `,
];
