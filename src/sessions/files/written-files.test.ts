import { lstatSync, readFileSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { type Clock, systemClock } from "../../base/clock.js";
import { digestOf } from "./event-log.js";
import { errnoOf } from "./file-errors.js";
import { FolderWatch } from "./folder-watch.js";
import { MessageIndex } from "./message-index.js";
import { WrittenFiles } from "./written-files.js";

const FILES = times(80, 300);
let root: string;
let folder: string;
let index: MessageIndex;
let written: WrittenFiles;
let open: (clock: Clock) => void;
let looks: number;
let reads: number;

const nameOf = (seq: number) => `${String(seq).padStart(4, "0")}-user.md`;
const path = (seq: number) => join(folder, nameOf(seq));

function read(name: string): Buffer | undefined {
  reads++;
  try {
    return readFileSync(join(folder, name));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function write(seq: number): Promise<void> {
  await writeFile(path(seq), `message ${seq}\n`);
  await index.add({ file: nameOf(seq), sum: digestOf(`message ${seq}\n`), at: seq });
}

const areAsWritten = () => written.areAsWritten(index);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "oxbow-written-"));
  folder = join(root, "messages");
  await mkdir(folder);
  index = new MessageIndex(join(root, "messages.jsonl"));
  await index.refresh();
  for (let seq = 1; seq <= FILES; seq++) await write(seq);
  looks = reads = 0;
  const stat = (at: string) => {
    looks++;
    return lstatSync(at, { throwIfNoEntry: false });
  };
  open = (clock) => {
    const names = async () => (await readdir(folder)).filter((name) => name.endsWith(".md"));
    written = new WrittenFiles({ folder, clock, names, read, stat });
  };
  open(systemClock);
});

/** As a process does that comes a minute later. */
async function comeBack(): Promise<void> {
  written.forget();
  open({ ...systemClock, wall: () => systemClock.wall() + 60_000 });
  index = new MessageIndex(join(root, "messages.jsonl"));
  await index.refresh();
  looks = reads = 0;
}

afterEach(async () => {
  written.forget();
  await rm(root, { recursive: true });
});

describe("files that were written", () => {
  verifies(["S7"], "are read once, and then only those that changed", async (context) => {
    const watch = await FolderWatch.begin(folder, { clock: systemClock, counts: () => true });
    if (watch === undefined) return context.skip("needs a folder that can be watched");
    watch.close();
    expect(await areAsWritten()).toBe(true);
    expect(looks).toBe(FILES);
    looks = 0;
    expect(await areAsWritten()).toBe(true);
    expect(looks).toBe(0);
    await write(FILES + 1);
    expect(await areAsWritten()).toBe(true);
    expect(looks).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  verifies(["S7"], "are read once, and then by no other process", async () => {
    await comeBack();
    expect([await areAsWritten(), reads]).toEqual([true, FILES]);
    await write(FILES + 1);
    await comeBack();
    expect([await areAsWritten(), reads]).toEqual([true, 1]);
    await comeBack();
    expect([await areAsWritten(), reads]).toEqual([true, 0]);
    await writeFile(path(7), "message 8\n");
    await comeBack();
    expect([await areAsWritten(), reads]).toEqual([false, 1]);
  });

  verifies(["S7"], "do not count when they stand behind a summary", async () => {
    const known = [...index.files];
    const done = (event: number, from: number) => ({ done: event, from, highest: event });
    const [early, middle, late] = [known.slice(0, -20), known.slice(-20, -10), known.slice(-10)];
    const dones = [done(FILES - 20, 0), done(FILES - 10, 0), done(FILES, FILES - 4)] as const;
    await index.replace([...early, dones[0], ...middle, dones[1], ...late, dones[2]]);
    await writeFile(path(7), "other\n");
    await unlink(path(8));
    await writeFile(path(0), "mine\n");
    await comeBack();
    expect([await areAsWritten(), looks]).toEqual([true, 5]);
    expect([index.highest, await written.strangers(index)]).toEqual([FILES, []]);
    await index.readAll();
    expect([...index.files]).toHaveLength(FILES);
    await writeFile(path(FILES - 2), "other\n");
    await comeBack();
    expect(await areAsWritten()).toBe(false);
  });

  const edits: readonly (readonly [what: string, edit: () => Promise<unknown>])[] = [
    ["an edit in place", () => appendFile(path(7), "more\n")],
    ["an edit in place of as many bytes", () => writeFile(path(7), "message 8\n")],
    [
      "a file that is replaced",
      async () => {
        await writeFile(join(folder, "new"), "other\n");
        await rename(join(folder, "new"), path(9));
      },
    ],
    ["a file that is deleted", () => unlink(path(3))],
    ["a file that is renamed", () => rename(path(3), path(FILES + 40))],
    ["a file that is added", () => writeFile(path(FILES + 50), "mine\n")],
    [
      "a folder that is replaced",
      async () => {
        await rename(folder, join(root, "away"));
        await mkdir(folder);
        await writeFile(path(1), await readFile(join(root, "away", nameOf(1))));
      },
    ],
    ["a folder that is removed", () => rm(folder, { recursive: true })],
  ];
  for (const [what, edit] of edits) {
    verifies(["S7"], `are not as written after ${what}, also right after a look`, async () => {
      expect(await areAsWritten()).toBe(true);
      expect(await areAsWritten()).toBe(true);
      await edit();
      expect(await areAsWritten().catch(() => false)).toBe(false);
    });
  }

  verifies(["S7"], "are as written when a change is taken back, or other files come and go", async () => {
    expect(await areAsWritten()).toBe(true);
    await writeFile(path(7), "other\n");
    await writeFile(path(7), "message 7\n");
    await writeFile(path(FILES + 1), "mine\n");
    await unlink(path(FILES + 1));
    await writeFile(join(folder, "notes.txt"), "x");
    expect(await areAsWritten()).toBe(true);
  });
});
