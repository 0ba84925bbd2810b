import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildChildPrograms, type ChildPrograms } from "../../../test/support/child-programs.js";
import { verifies } from "../../../test/verifies.js";
import type { Bindable } from "./bindable.js";
import { Database } from "./database.js";

const KEY = new Uint8Array(32).fill(1);
let folder: string;
let children: ChildPrograms;

beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "bind-fuzz", "abandon");
});
afterAll(() => children.discard());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-database-"));
});
afterEach(() => rm(folder, { recursive: true }));

const open = (key = KEY) => Database.open({ path: join(folder, "a #1?%20.db"), key });

async function contents(): Promise<Record<string, string>> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith("-shm")).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, (await readFile(join(folder, name))).toString("base64")])),
  );
}

describe("the database wrapper", () => {
  verifies(["S1"], "survives whatever is bound, and gives back what it stored", async () => {
    const { code, signal, out, err } = await children.start("bind-fuzz", join(folder, "f.db"), "42", "3000").end;
    expect({ code, signal, out, err }).toEqual({ code: 0, signal: null, out: "done", err: "" });
  });

  it("wants exactly the values of the statement", async () => {
    const database = await open();
    database.script("CREATE TABLE t (a TEXT, b TEXT) STRICT");
    database.run("INSERT INTO t VALUES (?, ?)", ["1", "2"]);
    for (const values of [[], ["3"], ["3", "4", "5"]]) {
      expect(() => database.run("INSERT INTO t VALUES (?, ?)", values)).toThrow("2 values are wanted");
    }
    for (const value of [new Date(), {}, undefined, 1.5, Number.NaN, 1n, () => 1, Symbol("x")]) {
      const values = [value, "x"] as unknown as Bindable[];
      expect(() => database.run("INSERT INTO t VALUES (?, ?)", values)).toThrow("cannot be stored");
    }
    expect(database.select({ a: "text", b: "text" }, "FROM t")).toEqual([{ a: "1", b: "2" }]);
    database.close();
  });

  it("refuses text that is not UTF-8 and values of the wrong kind instead of ending the process", async () => {
    const database = await open();
    database.script("CREATE TABLE t (a ANY) STRICT");
    database.script("INSERT INTO t VALUES (CAST(x'61ff' AS TEXT))");
    const damaged = expect.objectContaining({ code: "damaged" });
    expect(() => database.select({ a: "text" }, "FROM t")).toThrow(damaged);
    expect(database.select({ a: "bytes" }, "FROM t")).toEqual([{ a: Buffer.from([0x61, 0xff]) }]);
    expect(database.select({ a: "integer" }, "FROM t")).toEqual([{ a: 0 }]);
    database.script("UPDATE t SET a = 9007199254740993");
    expect(() => database.select({ a: "integer" }, "FROM t")).toThrow(damaged);
    database.script("UPDATE t SET a = NULL");
    expect(() => database.select({ a: "integer" }, "FROM t")).toThrow(damaged);
    expect(database.select({ a: "integer?" }, "FROM t")).toEqual([{ a: undefined }]);
    database.close();
  });

  it("reads many rows as it reads one", async () => {
    const database = await open();
    database.script("CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER, c BLOB, d TEXT) STRICT");
    const columns = { a: "integer", b: "integer?", c: "bytes?", d: "text?", twice: ["integer?", "b * 2"] } as const;
    const rest = "FROM t WHERE a > ? ORDER BY a DESC LIMIT ?";
    expect(database.selectMany(columns, rest, [0, 9])).toEqual([]);
    const values: readonly (readonly Bindable[])[] = [
      [null, null, null],
      [0, Buffer.alloc(0), ""],
      [-5, Buffer.from([0, 1, 0, 255, 0xc3]), "é\0𝄞"],
      [Number.MAX_SAFE_INTEGER, Buffer.from([0xa9]), "],[1"],
      [1, Buffer.alloc(9000, 7), "x".repeat(10_000)],
    ];
    for (const [i, each] of values.entries()) database.run("INSERT INTO t VALUES (?, ?, ?, ?)", [i + 1, ...each]);
    database.run("UPDATE t SET b = b - 1 WHERE b > 1");
    for (const limits of [[0, 9] as const, [2, 2] as const]) {
      const { twice: _, ...plain } = columns;
      const rows = database.selectMany(plain, rest, limits);
      expect(rows).toEqual(database.select(plain, rest, limits));
      expect(rows.length).toBe(limits[1] === 9 ? 5 : 2);
    }
    expect(database.selectMany({ twice: columns.twice }, "FROM t WHERE a = ?", [3])).toEqual([{ twice: -10 }]);
    const damaged = expect.objectContaining({ code: "damaged" });
    expect(() => database.selectMany({ b: "integer" }, "FROM t", [])).toThrow(damaged);
    database.script("UPDATE t SET d = CAST(x'61ff' AS TEXT) WHERE a = 1");
    expect(() => database.selectMany({ d: "text?" }, "FROM t", [])).toThrow(damaged);
    database.close();
  });

  it("shows one moment to a reader of a snapshot", async () => {
    const [reader, writer] = [await open(), await open()];
    writer.script("CREATE TABLE t (a INTEGER) STRICT");
    const count = () => reader.first({ n: ["integer", "count(*)"] }, "FROM t")?.n;
    const counts = reader.snapshot(() => {
      const before = count();
      writer.run("INSERT INTO t VALUES (?)", [1]);
      return [before, reader.snapshot(count)];
    });
    expect([...counts, count()]).toEqual([0, 0, 1]);
    const stop = () => {
      throw new Error("stop");
    };
    expect(() => reader.snapshot(stop)).toThrow("stop");
    reader.transaction("FULL", () => reader.run("INSERT INTO t VALUES (?)", [2]));
    expect(count()).toBe(2);
    reader.close();
    writer.close();
  });

  it("undoes a transaction that fails", async () => {
    const database = await open();
    database.script("CREATE TABLE t (a INTEGER) STRICT");
    expect(() =>
      database.transaction("FULL", () => {
        database.run("INSERT INTO t VALUES (?)", [1]);
        throw new Error("stop");
      }),
    ).toThrow("stop");
    database.transaction("NORMAL", () => database.run("INSERT INTO t VALUES (?)", [true]));
    expect(database.select({ a: "integer" }, "FROM t")).toEqual([{ a: 1 }]);
    database.close();
    expect(() => database.run("DELETE FROM t")).toThrow(expect.objectContaining({ code: "closed" }));
  });

  verifies(["S1"], "refuses a wrong key and changes nothing, also beside a left-over log of changes", async () => {
    const path = join(folder, "left.db");
    const end = await children.start("abandon", path).end;
    expect(end).toMatchObject({ signal: "SIGKILL", out: "written" });
    const before = await contents();
    expect(Object.keys(before)).toEqual(["left.db", "left.db-wal"]);
    for (const byte of [2, 3]) {
      const wrong = Database.open({ path, key: new Uint8Array(32).fill(byte) });
      await expect(wrong).rejects.toMatchObject({ code: "wrong-key", message: expect.stringContaining("another key") });
    }
    expect(await contents()).toEqual(before);
    const database = await Database.open({ path, key: KEY });
    expect(database.first({ n: ["integer", "count(*)"] }, "FROM t")).toEqual({ n: 200 });
    database.close();
  });

  it("refuses a file that is not our database and leaves it unchanged", async () => {
    const path = join(folder, "notes.txt");
    await writeFile(path, "my notes\n".repeat(1000));
    await cp(path, `${path}.copy`);
    await expect(Database.open({ path, key: KEY })).rejects.toMatchObject({ code: "wrong-key" });
    expect(await readFile(path)).toEqual(await readFile(`${path}.copy`));
    await expect(Database.open({ path: folder, key: KEY })).rejects.toMatchObject({ code: "unavailable" });
    await expect(Database.open({ path: join(path, "x.db"), key: KEY })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("says how to get the library when it is missing", async () => {
    const fail = () => {
      throw new Error("Cannot find package\nmore");
    };
    for (const load of [fail, () => ({})]) {
      const opening = Database.open({ path: join(folder, "x.db"), key: KEY, load });
      await expect(opening).rejects.toMatchObject({
        code: "not-installed",
        message: expect.stringMatching(
          /^Oxbow cannot store sessions: the package libsql does not load \(.*\)\. Install again/,
        ),
      });
    }
    expect(await readdir(folder)).toEqual([]);
  });
});
