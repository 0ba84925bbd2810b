import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildChildPrograms } from "../../../test/support/child-programs.js";
import { verifies } from "../../../test/verifies.js";
import { Database } from "../../system/sqlite/database.js";
import { isUpgrade } from "../../system/sqlite/migrate.js";
import { databaseKey } from "./keys.js";
import { MIGRATIONS, migrate } from "./migrations.js";
import { openSqliteStore } from "./sqlite-store.js";
import { sampleEvents, sampleSession, sampleSnapshot } from "./test-support/sample.js";

const wall = () => Date.UTC(2026, 0, 31);
const FIRST = "CREATE TABLE a (x INTEGER) STRICT;";
const SECOND = "CREATE TABLE b (x INTEGER) STRICT; INSERT INTO b VALUES (1);";
let folder: string;
let database: Database;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-migrations-"));
  database = await Database.open({ path: join(folder, "a.db"), key: new Uint8Array(32) });
});

afterEach(async () => {
  database.close();
  await rm(folder, { recursive: true });
});

const tables = () =>
  database
    .select({ name: "text" }, "FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("sqlite_"));
const versions = () =>
  database.select(
    { version: "integer", applied_at: "text", sha256: "text" },
    "FROM schema_migrations ORDER BY version",
  );

describe("migrations", () => {
  verifies(["S2"], "are applied once, forward, with their sha256 in the ledger", () => {
    expect(isUpgrade(database, [FIRST])).toBe(false);
    expect(migrate(database, { wall, migrations: [FIRST] })).toBe(1);
    expect(migrate(database, { wall, migrations: [FIRST] })).toBe(0);
    expect(isUpgrade(database, [FIRST])).toBe(false);
    expect(isUpgrade(database, [FIRST, SECOND])).toBe(true);
    expect(tables()).toEqual(["a", "schema_migrations"]);
    expect(migrate(database, { wall, migrations: [FIRST, SECOND] })).toBe(1);
    expect(isUpgrade(database, [FIRST, SECOND])).toBe(false);
    expect(tables()).toEqual(["a", "b", "schema_migrations"]);
    expect(versions()).toEqual([
      { version: 1, applied_at: "2026-01-31T00:00:00.000Z", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { version: 2, applied_at: "2026-01-31T00:00:00.000Z", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  verifies(["S2"], "leave a newer database, or one with another history, as it is", () => {
    migrate(database, { wall, migrations: [FIRST, SECOND] });
    const newer = expect.objectContaining({
      code: "incompatible",
      message: expect.stringContaining("has version 2; this program knows versions up to 1. Use the newer Oxbow"),
    });
    expect(() => migrate(database, { wall, migrations: [FIRST] })).toThrow(newer);
    const other = expect.objectContaining({ code: "incompatible", message: expect.stringContaining("version 1") });
    expect(() => migrate(database, { wall, migrations: [`${FIRST} `, SECOND, FIRST] })).toThrow(other);
    database.run("DELETE FROM schema_migrations WHERE version = 1");
    expect(() => migrate(database, { wall, migrations: [FIRST, SECOND] })).toThrow(
      expect.objectContaining({ code: "incompatible" }),
    );
    expect(tables()).toEqual(["a", "b", "schema_migrations"]);
  });

  verifies(["S2"], "do nothing when one of them stops half-way", () => {
    const broken = "CREATE TABLE b (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1);";
    expect(() => migrate(database, { wall, migrations: [FIRST, broken] })).toThrow("nowhere");
    expect(tables()).toEqual([]);
    expect(migrate(database, { wall, migrations: [FIRST, SECOND] })).toBe(2);
    expect(database.select({ x: "integer" }, "FROM b")).toEqual([{ x: 1 }]);
  });

  verifies(["S2"], "are safe when several processes begin a database at once", async () => {
    const children = await buildChildPrograms(import.meta.url, "writer");
    const path = join(folder, "new", "sessions.db");
    const ends = await Promise.all([1, 2, 3, 4, 5].map((seed) => children.start("writer", path, `${seed}`, "4").end));
    for (const { code, err } of ends) expect({ code, err }).toEqual({ code: 0, err: "" });
    await children.discard();
  });

  verifies(
    ["S2", "S6"],
    "take a database with sessions of the version before along, and tell people first",
    async () => {
      const path = join(folder, "data", "sessions.db");
      const key = new Uint8Array(32).fill(7);
      const session = sampleSession(1);
      const made = await openSqliteStore({ path, key });
      await made.create(session, { events: sampleEvents(session.id, 1, 120) });
      await made.close();
      // As the version before left it.
      const old = await Database.open({ path, key: databaseKey(key) });
      old.script("ALTER TABLE calls DROP COLUMN whole; DROP TABLE snapshots");
      old.script("CREATE TABLE stretches (place INTEGER PRIMARY KEY, body BLOB) STRICT");
      old.script("DELETE FROM schema_migrations WHERE version > 8");
      old.close();
      await writeFile(join(folder, "data", "search.db"), "words");
      const told: string[] = [];
      const open = () => openSqliteStore({ path, key, onUpgrade: async () => void told.push("upgrade") });
      const store = await open();
      expect(told).toEqual(["upgrade"]);
      expect(await store.verify(session.id)).toEqual({ ok: true, events: 120 });
      await store.keepSnapshot?.(session.id, sampleSnapshot(0, 120));
      expect(await store.snapshot?.(session.id)).toEqual(sampleSnapshot(0, 120));
      await store.close();
      expect(await readdir(join(folder, "data"))).not.toContain("search.db");
      await (await open()).close();
      expect(told).toEqual(["upgrade"]);
    },
  );

  it("of ours never change once released", async () => {
    migrate(database, { wall });
    expect(versions()).toHaveLength(MIGRATIONS.length);
    expect(versions()[0]?.sha256).toMatchInlineSnapshot(
      `"1dcedbf7bc5cbea3cdc63f1627a027665721164102592c61b91e99b4c6bd7a33"`,
    );
  });
});
