/** Describes what is in the memory of a live process (Linux): read as a debugger would, from /proc. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

const PIECE = 4 * 1024 * 1024;

/** Tells which of these texts are somewhere in the process's writable memory. */
export function textsInMemory(pid: number, texts: readonly string[]): string[] {
  const wanted = texts.map((text) => Buffer.from(text));
  // Node keeps some strings with two bytes a character.
  const wide = texts.map((text) => Buffer.from(text, "utf16le"));
  const overlap = Math.max(...wide.map((text) => text.length));
  const found = new Set<string>();
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const buffer = Buffer.alloc(PIECE + overlap);
  try {
    for (const [start, end] of writableRanges(pid)) {
      for (let at = start; at < end; at += PIECE) {
        const piece = readPiece(memory, { buffer, at, length: Math.min(PIECE + overlap, end - at) });
        for (const [index, text] of texts.entries()) {
          if ([wanted[index], wide[index]].some((form) => form !== undefined && piece.includes(form))) found.add(text);
        }
      }
    }
  } finally {
    closeSync(memory);
  }
  return texts.filter((text) => found.has(text));
}

function writableRanges(pid: number): [start: number, end: number][] {
  const lines = readFileSync(`/proc/${pid}/maps`, "latin1").split("\n");
  return lines.flatMap((line): [number, number][] => {
    const match = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line);
    return match === null ? [] : [[Number.parseInt(match[1] ?? "", 16), Number.parseInt(match[2] ?? "", 16)]];
  });
}

/** A range may have gone since it was listed, or never been filled. */
function readPiece(memory: number, { buffer, at, length }: { buffer: Buffer; at: number; length: number }): Buffer {
  try {
    return buffer.subarray(0, readSync(memory, buffer, 0, length, at));
  } catch {
    return buffer.subarray(0, 0);
  }
}
