import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { parseMachineKey } from "../system/user-key.js";
import { resolveKey } from "./key.js";

let folder: string;
let database: string;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "oxbow-key-")), "data");
  database = join(folder, "sessions.db");
});

afterEach(() => rm(join(folder, ".."), { recursive: true }));

const bytes = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7 + 60));

describe("the machine key", () => {
  verifies(["S1"], "is 32 bytes in hexadecimal, base64 or as they are", async () => {
    const forms = [
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
      bytes.toString("base64"),
      bytes.toString("base64url"),
    ];
    for (const form of forms) expect(parseMachineKey(form)).toEqual(bytes);
    const raw = "thirty-two characters, no more !";
    expect(parseMachineKey(raw)).toEqual(Buffer.from(raw));
    expect(await resolveKey({ folder, database, machineKey: raw, passphrase: "ignored" })).toEqual({
      key: Buffer.from(raw),
      from: "machine-key",
    });
  });

  it("is refused in any other form, without being repeated", () => {
    const short = bytes.toString("hex").slice(2);
    const replaced = `${"x".repeat(29)}\ufffd`;
    for (const value of [
      "x",
      short,
      `${short}zz`,
      `${short}000`,
      "x".repeat(31),
      "x".repeat(33),
      "é".repeat(32),
      replaced,
      " ",
    ]) {
      expect(() => parseMachineKey(value)).toThrow(
        /^OXBOW_MACHINE_KEY must be 32 bytes: 64 hexadecimal digits, base64, or/,
      );
    }
  });
});

describe("the key file", () => {
  verifies(["S1"], "is made once, for the user alone, and found again", async () => {
    const made = await resolveKey({ folder, database, machineKey: "", passphrase: "" });
    const path = join(folder, "sessions.key");
    expect(made).toMatchObject({ from: "key-file", created: path });
    expect(made.key).toHaveLength(32);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readdir(folder)).toEqual(["sessions.key"]);
    await chmod(path, 0o644);
    await writeFile(database, "something");
    expect(await resolveKey({ folder, database })).toEqual({ key: made.key, from: "key-file", path });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  verifies(["S1"], "is one, even if several processes start at once", async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => resolveKey({ folder, database })));
    expect(new Set(keys.map(({ key }) => Buffer.from(key).toString("hex"))).size).toBe(1);
    expect(keys.filter(({ created }) => created !== undefined)).toHaveLength(1);
    expect(await readdir(folder)).toEqual(["sessions.key"]);
  });

  it("is not made for a database that has another", async () => {
    await mkdir(folder);
    await writeFile(database, "something");
    await expect(resolveKey({ folder, database })).rejects.toMatchObject({
      code: "wrong-key",
      message: expect.stringMatching(
        /sessions\.key is missing, and Oxbow cannot read .*sessions\.db without it\. Restore it/,
      ),
    });
    expect(await readdir(folder)).toEqual(["sessions.db"]);
  });

  it("is refused when it holds something else", async () => {
    await mkdir(folder);
    await writeFile(join(folder, "sessions.key"), "not it\n");
    await expect(resolveKey({ folder, database })).rejects.toMatchObject({ code: "wrong-key" });
    expect(await readFile(join(folder, "sessions.key"), "utf8")).toBe("not it\n");
  });

  it("says why it cannot be made", async () => {
    await writeFile(folder, "a file in the way");
    await expect(resolveKey({ folder, database })).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("the passphrase", () => {
  verifies(["S1"], "makes the same key with the same salt", async () => {
    const first = await resolveKey({ folder, database, passphrase: "correct horse é" });
    expect(first).toMatchObject({ from: "passphrase" });
    expect(first.key).toHaveLength(32);
    expect((await stat(join(folder, "sessions.salt"))).mode & 0o777).toBe(0o600);
    await writeFile(database, "something");
    const composed = await resolveKey({ folder, database, passphrase: "correct horse e\u0301" });
    expect(composed.key).toEqual(first.key);
    expect((await resolveKey({ folder, database, passphrase: "other" })).key).not.toEqual(first.key);
    await rm(join(folder, "sessions.salt"));
    await expect(resolveKey({ folder, database, passphrase: "correct horse é" })).rejects.toMatchObject({
      code: "wrong-key",
    });
  });

  it("refuses a salt file that is damaged or weak", async () => {
    await mkdir(folder);
    const salt = "ab".repeat(32);
    for (const content of [
      "",
      "{}",
      "[1",
      JSON.stringify({ kdf: "scrypt", cost: 2, salt }),
      JSON.stringify({ kdf: "scrypt", cost: 2 ** 17, salt: "" }),
    ]) {
      await writeFile(join(folder, "sessions.salt"), content);
      await expect(resolveKey({ folder, database, passphrase: "x" })).rejects.toMatchObject({ code: "wrong-key" });
    }
  });
});
