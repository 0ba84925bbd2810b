import { mkdir, mkdtemp, open, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { createPieceReader, firstPieceOf, linePieces, withRegularFile } from "./file-pieces.js";

const MIB = 1024 * 1024;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-pieces-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function piecesOf(bytes: Buffer): Promise<readonly Buffer[]> {
  await writeFile(join(folder, "a"), bytes);
  const found: Buffer[] = [];
  await withRegularFile(join(folder, "a"), async (handle) => {
    for await (const piece of linePieces(handle)) found.push(piece);
  });
  expect(Buffer.concat(found).equals(bytes)).toBe(true);
  return found;
}

it("a large file comes in pieces that end at line ends", async () => {
  const lines = Buffer.from(Array.from({ length: 300_000 }, (_, at) => `line ${at}\n`).join(""));
  const pieces = await piecesOf(Buffer.concat([lines, Buffer.from("the end")]));
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces.slice(0, -1).every((piece) => piece.at(-1) === 10)).toBe(true);
  expect(pieces.every(({ length }) => length <= 2 * MIB)).toBe(true);
  expect(await piecesOf(Buffer.alloc(0))).toEqual([]);
  expect((await piecesOf(Buffer.from("a\nb"))).map(String)).toEqual(["a\n", "b"]);
  // A long line is whole.
  const long = Buffer.concat([Buffer.from("a\n"), Buffer.alloc(3 * MIB, "x"), Buffer.from("\nb\n")]);
  expect((await piecesOf(long)).map(({ length }) => length)).toEqual([2, 3 * MIB + 3]);
});

it("a piece ends at once where the file is binary, or its line too long to search", async () => {
  const binary = Buffer.concat([Buffer.alloc(MIB, "x"), Buffer.from("a\0b"), Buffer.alloc(MIB, "y")]);
  expect((await piecesOf(binary)).map(({ length }) => length)).toEqual([2 * MIB, 3]);
  const endless = await piecesOf(Buffer.alloc(66 * MIB, "x"));
  expect(endless.map(({ length }) => length)).toEqual([65 * MIB, MIB]);
});

it("a small file is read whole, and of a large one the beginning", async () => {
  const read = await createPieceReader();
  for (const [size, length, isWhole] of [
    [0, 0, true],
    [3, 3, true],
    [MIB, MIB, true],
    [MIB + 1, MIB + 1, false],
    [3 * MIB, MIB + 1, false],
  ] as const) {
    const path = join(folder, "a");
    await writeFile(path, Buffer.alloc(size, "x"));
    const handle = await open(path);
    for (const found of [read(path), await firstPieceOf(handle)])
      expect([found?.bytes.length, found?.isWhole]).toEqual([length, isWhole]);
    await handle.close();
  }
});

needs("linux").it("what is no file at its own place is not read", async () => {
  const read = await createPieceReader();
  const path = join(folder, "a");
  await writeFile(path, "text");
  await symlink(path, join(folder, "link"));
  await mkdir(join(folder, "deep"));
  await symlink(folder, join(folder, "deep", "up"));
  expect(read(path, path)?.bytes.toString()).toBe("text");
  expect(read(join(folder, "deep", "up", "a"), path)?.bytes.toString()).toBe("text");
  expect(read(join(folder, "deep", "up", "a"), join(folder, "deep", "up", "a"))).toBeUndefined();
  for (const other of ["link", "deep", "nothing"]) {
    expect(read(join(folder, other)), other).toBeUndefined();
    expect(await withRegularFile(join(folder, other), async () => 1), other).toBeUndefined();
  }
});
