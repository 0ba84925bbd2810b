/**
 * The history of a database's schema.
 *
 * 1. Migrations are numbered from 1 without gaps and only go forward. One that was released is never changed: its sha256
 *    is in every database it made.
 * 2. One transaction applies all missing migrations and records them: a process that dies in it has changed nothing, and if several
 *    start at once, one applies them and the others find them done.
 * 3. A database with a newer version than ours is not touched.
 */
import { createHash } from "node:crypto";
import { StoreError } from "../../base/store-error.js";
import type { Database } from "./database.js";

export interface MigrateOptions {
  readonly wall: () => number;
  readonly migrations: readonly string[];
}

/** Tells whether `migrate` would change an existing database: that may take a while, and other processes wait. */
export function isUpgrade(database: Database, migrations: readonly string[]): boolean {
  const present = check(database, hashesOf(migrations));
  return present > 0 && present < migrations.length;
}

/** Migrates the schema to our version; returns the number of migrations. */
export function migrate(database: Database, { wall, migrations }: MigrateOptions): number {
  const known = hashesOf(migrations);
  const present = check(database, known);
  if (present === known.length) return 0;
  // A power cut may undo it as a whole: the next process applies it again.
  return database.transaction("NORMAL", () => {
    database.script(
      "CREATE TABLE IF NOT EXISTS schema_migrations " +
        "(version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT",
    );
    // Another process may have been faster.
    const applied = check(database, known);
    for (const [i, sql] of migrations.entries()) {
      if (i < applied) continue;
      database.script(sql);
      database.run("INSERT INTO schema_migrations (version, applied_at, sha256) VALUES (?, ?, ?)", [
        i + 1,
        new Date(wall()).toISOString(),
        known[i] as string,
      ]);
    }
    return known.length - applied;
  });
}

function hashesOf(migrations: readonly string[]): readonly string[] {
  return migrations.map((sql) => createHash("sha256").update(sql).digest("hex"));
}

/** Counts how many of the known migrations the database has; throws when it has others. */
function check(database: Database, known: readonly string[]): number {
  const exists = database.first({ found: ["integer", "1"] }, "FROM sqlite_master WHERE name = 'schema_migrations'");
  if (exists === undefined) return 0;
  const rows = database.select({ version: "integer", sha256: "text" }, "FROM schema_migrations ORDER BY version");
  const newest = rows.at(-1)?.version ?? 0;
  if (newest > known.length) {
    throw new StoreError(
      "incompatible",
      `The ${database.noun} ${database.path} has version ${newest}; this program knows versions up to ${known.length}. ` +
        "Use the newer Oxbow that made it. Nothing was changed.",
    );
  }
  for (const [i, { version, sha256 }] of rows.entries()) {
    if (version === i + 1 && sha256 === known[i]) continue;
    throw new StoreError(
      "incompatible",
      `The ${database.noun} ${database.path} was made with another form of schema version ${version}. ` +
        "Use the Oxbow that made it, or move the file away to start a new one. Nothing was changed.",
    );
  }
  return rows.length;
}
