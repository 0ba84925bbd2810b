/**
 * Ripgrep opens files by their paths. Another process may replace one with a link to the outside at that moment, and restore it.
 *
 * 1. A line from ripgrep counts only if the file, which we open and verify, contains it too.
 * 2. If ripgrep gives only names and numbers, the file must at least be in place afterwards.
 */
import { join } from "node:path";
import { createPieceReader, linePieces } from "../files/file-pieces.js";
import { openRegularFile } from "../files/held-directory.js";
import { isRealPath } from "../files/lookups.js";
import { isUtf16 } from "../files/text-file.js";
import { decode, MAX_WHOLE_BYTES } from "./built-in-search.js";
import { splitLines } from "./line-scanner.js";
import { type FoundFile, type FoundLine, isClipOf } from "./search-request.js";

const BATCH_FILES = 64;

/** `start` is free of symbolic links. */
export async function confirmLines(
  start: string,
  files: readonly FoundFile[],
  signal: AbortSignal,
): Promise<readonly FoundFile[]> {
  const read = await createPieceReader();
  const confirmed: FoundFile[] = [];
  for (const [index, file] of files.entries()) {
    if (index % BATCH_FILES === BATCH_FILES - 1) await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    const path = join(start, file.path);
    const piece = read(path, path);
    if (piece === undefined) continue;
    const check = new LineCheck(file.lines);
    if (piece.isWhole) check.take(decode(piece.bytes));
    else await takeLarge(path, check);
    if (check.isPassed) confirmed.push(file);
  }
  return confirmed;
}

export async function confirmPlaces(start: string, files: readonly FoundFile[]): Promise<readonly FoundFile[]> {
  const inPlace = await Promise.all(files.map((file) => isRealPath(join(start, file.path))));
  return files.filter((_, index) => inPlace[index]);
}

/** Reads only up to the last line that ripgrep reported. */
async function takeLarge(path: string, check: LineCheck): Promise<void> {
  const handle = await openRegularFile(path, path).catch(() => undefined);
  if (handle === undefined) return;
  try {
    for await (const piece of linePieces(handle)) {
      if (check.isBeginning && isUtf16(piece)) {
        if ((await handle.stat()).size <= MAX_WHOLE_BYTES) check.take(decode(await handle.readFile()));
        return;
      }
      check.take(decode(piece));
      if (check.isPassed) return;
    }
  } finally {
    await handle.close();
  }
}

/** Ticks off the reported lines while the file is read. */
class LineCheck {
  readonly #wanted: readonly FoundLine[];
  #next = 0;
  #number = 0;

  constructor(wanted: readonly FoundLine[]) {
    this.#wanted = wanted;
  }

  get isBeginning(): boolean {
    return this.#number === 0;
  }

  get isPassed(): boolean {
    return this.#next === this.#wanted.length;
  }

  take(text: string): void {
    const lines = splitLines(text);
    for (let wanted = this.#wanted[this.#next]; wanted !== undefined; wanted = this.#wanted[++this.#next]) {
      const line = lines[wanted.number - this.#number - 1];
      if (line === undefined || !isClipOf(wanted.text, line)) break;
    }
    this.#number += lines.length;
  }
}
