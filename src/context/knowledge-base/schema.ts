/** The schema of the knowledge base. One migration for each version; a released one is never changed. */

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE projects (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    description TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'concluded')),
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE observations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('note', 'finding', 'decision', 'question', 'hypothesis')),
    content TEXT NOT NULL,
    created_at TEXT NOT NULL,
    session TEXT,
    event INTEGER
  ) STRICT;
  CREATE INDEX observations_project ON observations (project, created_at);
  CREATE TABLE concepts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    description TEXT NOT NULL
  ) STRICT;
  CREATE TABLE project_concepts (
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    concept INTEGER NOT NULL REFERENCES concepts (id) ON DELETE CASCADE,
    PRIMARY KEY (project, concept)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE observation_concepts (
    observation INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
    concept INTEGER NOT NULL REFERENCES concepts (id) ON DELETE CASCADE,
    PRIMARY KEY (observation, concept)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE observation_links (
    origin INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    PRIMARY KEY (origin, target, relation)
  ) STRICT, WITHOUT ROWID;
  -- The project of each folder that is worked in.
  CREATE TABLE folders (
    path TEXT PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE
  ) STRICT;
  CREATE VIEW project_summary AS
    SELECT projects.id, projects.name, projects.description, projects.status, projects.created_at,
      (SELECT group_concat(name, ', ') FROM (SELECT concepts.name FROM project_concepts JOIN concepts ON concepts.id = concept
        WHERE project = projects.id ORDER BY concepts.name)) AS concepts
    FROM projects;
  -- The words come from index-words.ts.
  CREATE VIRTUAL TABLE observation_words USING fts5 (content, content='', contentless_delete=1, tokenize='ascii');
  CREATE TRIGGER forget_words AFTER DELETE ON observations BEGIN
    DELETE FROM observation_words WHERE rowid = old.id;
  END;
  `,
];
