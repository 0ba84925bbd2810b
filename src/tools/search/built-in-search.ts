/**
 * Searching without ripgrep.
 *
 * 1. It finds the same files and lines as ripgrep: it obeys ignore files, searches hidden files, does not follow links, and skips
 *    files with a NUL byte.
 * 2. It stops an expression that takes too long; the program stays responsive between batches.
 */
import type { FileHandle } from "node:fs/promises";
import {
  createPieceReader,
  firstPieceOf,
  linePieces,
  type PieceReader,
  withRegularFile,
} from "../files/file-pieces.js";
import { isUtf16 } from "../files/text-file.js";
import type { FoundFiles } from "./found-files.js";
import { globMatcher } from "./glob-pattern.js";
import { type Expressions, LineScanner, type Scan, scanText } from "./line-scanner.js";
import { compilePattern, PatternError } from "./rust-regex.js";
import type { SearchRequest } from "./search-request.js";
import { type VisitedFolder, type WalkOptions, walkTree } from "./tree-walk.js";

/** A whole text must be in memory to be searched across lines. */
export const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
const BATCH_FILES = 64;

export interface BuiltInSearch {
  readonly request: SearchRequest;
  /** Says how long one batch of files may take before the search stops. */
  readonly limitMs: number;
}

/** Throws `PatternError` for a pattern that cannot be used. */
export async function searchTree(
  start: string,
  search: BuiltInSearch,
  options: WalkOptions & { readonly found: FoundFiles },
): Promise<void> {
  const searcher = await FileSearcher.create(search);
  const read = await createPieceReader();
  const glob = search.request.glob === undefined ? undefined : globMatcher(search.request.glob);
  await walkTree(start, options, async (folder) => {
    const names = folder.files.filter((name) => glob === undefined || glob.test(folder.prefix + name));
    for (let at = 0; at < names.length; at += BATCH_FILES) {
      await new Promise((resolve) => setImmediate(resolve));
      options.signal.throwIfAborted();
      await searchBatch(folder, names.slice(at, at + BATCH_FILES), { searcher, read, found: options.found });
    }
  });
}

/**
 * Reads and searches a few files synchronously: waiting for each file would take most of the time of the search. Batches are small
 * enough for other work in between.
 */
async function searchBatch(
  folder: VisitedFolder,
  names: readonly string[],
  { searcher, read, found }: { searcher: FileSearcher; read: PieceReader; found: FoundFiles },
): Promise<void> {
  const pieces = names.map((name) => read(folder.at(name)));
  const results = searcher.scanAll(pieces.map((piece) => (piece?.isWhole === true ? piece.bytes : undefined)));
  for (const [index, name] of names.entries()) {
    let result = results[index];
    if (pieces[index]?.isWhole === false) {
      result = await withRegularFile(folder.at(name), (handle) => searcher.scanLarge(handle));
    }
    if (result !== undefined && result.count > 0) found.add({ path: folder.prefix + name, ...result });
  }
}

/** Searches one file that is already open. Undefined when it is binary. */
export async function searchFile(handle: FileHandle, search: BuiltInSearch): Promise<Scan | undefined> {
  const searcher = await FileSearcher.create(search);
  const piece = await firstPieceOf(handle);
  return piece.isWhole ? searcher.scanAll([piece.bytes])[0] : searcher.scanLarge(handle);
}

class FileSearcher {
  readonly #request: SearchRequest;
  readonly #expressions: Expressions;
  readonly #guard: Guard;

  private constructor(request: SearchRequest, guard: Guard) {
    const { pattern, ignoreCase, multiline } = request;
    this.#request = request;
    this.#guard = guard;
    this.#expressions = {
      match: compilePattern(pattern, { unit: multiline ? "text" : "line", ignoreCase }),
      hint: compilePattern(pattern, { unit: multiline ? "text" : "lines", ignoreCase }),
    };
  }

  static async create({ request, limitMs }: BuiltInSearch): Promise<FileSearcher> {
    return new FileSearcher(request, await createGuard(limitMs));
  }

  /** Undefined for missing and binary files. */
  scanAll(files: readonly (Buffer | undefined)[]): readonly (Scan | undefined)[] {
    return this.#guard(() => files.map((bytes) => (bytes === undefined ? undefined : this.#scanWhole(bytes))));
  }

  /** In pieces that end at line ends. Undefined for binary files, and for files too large for a search that needs the whole text. */
  async scanLarge(handle: FileHandle): Promise<Scan | undefined> {
    const { size } = await handle.stat();
    const head = Buffer.alloc(3);
    await handle.read(head, 0, 3, 0);
    if (this.#request.multiline || isUtf16(head)) {
      if (size > MAX_WHOLE_BYTES) return undefined;
      const bytes = Buffer.alloc(size);
      const { bytesRead } = await handle.read(bytes, 0, size, 0);
      return this.scanAll([bytes.subarray(0, bytesRead)])[0];
    }
    const scanner = new LineScanner(this.#expressions, this.#request);
    for await (const piece of linePieces(handle)) {
      if (piece.includes(0)) return undefined;
      this.#guard(() => scanner.scan(decode(piece)));
    }
    return { count: scanner.count, lines: scanner.lines };
  }

  #scanWhole(bytes: Buffer): Scan | undefined {
    if (!isUtf16(bytes) && bytes.includes(0)) return undefined;
    if (this.#request.multiline) return scanText(decode(bytes), this.#expressions.match, this.#request);
    const scanner = new LineScanner(this.#expressions, this.#request);
    scanner.scan(decode(bytes));
    return { count: scanner.count, lines: scanner.lines };
  }
}

/** Decodes like ripgrep. */
export function decode(bytes: Buffer): string {
  if (isUtf16(bytes)) return new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes);
  return bytes.toString("utf8").replace(/^\ufeff/, "");
}

type Guard = <T>(action: () => T) => T;

/** Runs an expression that may take forever; V8 stops it at the time limit. */
async function createGuard(limitMs: number): Promise<Guard> {
  const { createContext, Script } = await import("node:vm");
  const script = new Script("action()");
  const sandbox: { action?: () => void } = createContext({});
  return <T>(action: () => T): T => {
    const box: { value?: T } = {};
    sandbox.action = () => {
      box.value = action();
    };
    try {
      script.runInContext(sandbox, { timeout: limitMs });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw new PatternError(
        "The pattern takes too long. Avoid repetitions inside repetitions, such as (a+)+, and try again.",
      );
    }
    return box.value as T;
  };
}
