import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { JournalFile } from "./journal-file.js";
import type { UndoRecord } from "./records.js";
import { UndoPlace } from "./test-support/undo-place.js";

const KEY = new Uint8Array(32).fill(3);
const record = (id: string): UndoRecord => ({ is: "done", id });

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-journal-"));
  path = join(folder, "journal");
});
afterEach(() => rmSync(folder, { recursive: true }));

function open(access: "read" | "append" = "append", key = KEY): JournalFile {
  const file = JournalFile.open(path, { key, session: "sess", access });
  if (file === undefined) throw new Error("nothing there");
  return file;
}

function idsIn(file: JournalFile): readonly string[] {
  return file.read().map((each) => (each.is === "done" ? each.id : each.is));
}

async function write(): Promise<void> {
  const file = open();
  file.append([record("one")]);
  await file.appendContents(Buffer.from("the content"));
  file.append([record("two")]);
  file.append([record("three".repeat(100))]);
  file.close();
}

describe("a journal file", () => {
  it("returns the written records, also to other readers meanwhile", async () => {
    const writer = open();
    writer.append([record("one")]);
    const reader = open("read");
    expect(idsIn(reader)).toEqual(["one"]);
    const at = await writer.appendContents(Buffer.from("the content"));
    const large = await writer.appendContents(Buffer.alloc(200_000, "x"));
    writer.append([record("two")]);
    expect(idsIn(reader)).toEqual(["two"]);
    expect(reader.contents(at)?.toString()).toBe("the content");
    expect(reader.contents(large)?.equals(Buffer.alloc(200_000, "x"))).toBe(true);
    expect(idsIn(reader)).toEqual([]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(path).size).toBeLessThan(1000);
    for (const file of [writer, reader]) file.close();
  });

  verifies(["T10"], "that was cut off anywhere loses at most its last record, and continues from there", async () => {
    await write();
    const whole = readFileSync(path);
    for (let length = 0; length <= whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      const file = open();
      const found = idsIn(file);
      expect(["one", "two", "three".repeat(100)].slice(0, found.length)).toEqual(found);
      file.append([record("next")]);
      file.close();
      const again = open("read");
      expect(idsIn(again)).toEqual([...found, "next"]);
      again.close();
    }
  });

  it("never gives out a record that was changed, moved or put in", async () => {
    await write();
    const whole = readFileSync(path);
    const honest = new Set(["one", "two", "three".repeat(100)]);
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(path, bytes);
      let file: JournalFile | undefined;
      try {
        file = open("read");
        for (const id of idsIn(file)) expect(honest).toContain(id);
      } catch (error) {
        expect((error as { code?: string }).code).toMatch(/damaged|wrong-key|incompatible/);
      }
      file?.close();
    }
    // The first record, once more at the end.
    const length = 5 + whole.readUInt32LE(32);
    writeFileSync(path, Buffer.concat([whole, whole.subarray(32, 32 + length)]));
    const file = open("read");
    expect(idsIn(file)).toHaveLength(3);
    file.close();
  });

  it("says that the key is another one", async () => {
    await write();
    expect(() => open("read", new Uint8Array(32)).read()).toThrow(/another key/);
    writeFileSync(path, "something else entirely");
    expect(() => open("read")).toThrow(/not an undo journal/);
  });
});

verifies(["T10"], "nothing in the undo folder shows the content or the names of files", async () => {
  const here = new UndoPlace();
  try {
    const words = "a sentence that must not be found anywhere";
    here.sh(`mkdir clients; echo '${words}' > clients/acquisition.txt`);
    here.turn();
    await here.bash(`echo '${words} again' >> clients/acquisition.txt; echo short > short.txt`);
    await here.undo();
    const bytes = readFileSync(here.file);
    for (const text of ["sentence", "acquisition", "clients", "short", "bash", here.root]) {
      expect(bytes.includes(text)).toBe(false);
    }
    expect(statSync(join(here.folder, here.session)).mode & 0o777).toBe(0o700);
    expect(statSync(here.file).mode & 0o777).toBe(0o600);
  } finally {
    here.discard();
  }
});
