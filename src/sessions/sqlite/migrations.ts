/** The migrations of the session database. One that was released is never changed. */
import type { Database } from "../../system/sqlite/database.js";
import { type MigrateOptions as AllOptions, migrate as migrateWith } from "../../system/sqlite/migrate.js";
import { sql as sessions } from "./migrations/0001-sessions.js";
import { sql as spending } from "./migrations/0002-spending.js";
import { sql as stretches } from "./migrations/0003-stretches.js";
import { sql as drafts } from "./migrations/0004-drafts.js";
import { sql as subagents } from "./migrations/0005-subagents.js";
import { sql as profiles } from "./migrations/0006-profiles.js";
import { sql as ancestors } from "./migrations/0007-ancestors.js";
import { sql as starts } from "./migrations/0008-starts.js";
import { sql as snapshots } from "./migrations/0009-snapshots.js";
import { sql as wholeCalls } from "./migrations/0010-whole-calls.js";

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
