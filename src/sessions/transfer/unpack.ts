/**
 * The bytes of a transcript, unpacked when its program has packed it: Codex packs old rollouts with zstd, and people keep exports
 * with gzip. What a file is, its first bytes say. Node unpacks zstd from 22.15 on; before, the `zstd` program does.
 */
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import * as zlib from "node:zlib";
import { findProgram } from "../../system/find-program.js";
import { StoreError } from "../store.js";

export interface UnpackOptions {
  /** `PATH`, to find `zstd` in. */
  readonly path: string | undefined;
  /** A folder whose programs are not trusted. */
  readonly avoid: string;
}

type Bytes = AsyncIterable<Uint8Array>;

const GZIP = "1f8b";
const ZSTD = "28b52ffd";
const PIECE = { highWaterMark: 256 * 1024 };

export async function* unpackedFile(file: string, options: UnpackOptions): AsyncGenerator<Uint8Array> {
  const magic = await beginningOf(file);
  const packed = magic.startsWith(GZIP) || magic === ZSTD;
  if (!packed) return yield* createReadStream(file, PIECE) as Bytes;
  try {
    yield* magic === ZSTD ? unzstd(file, options) : unpackedBy(file, zlib.createGunzip());
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError("damaged", `Oxbow cannot unpack ${file}: ${(error as Error).message}`, { cause: error });
  }
}

async function beginningOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString("hex", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unzstd(file: string, { path, avoid }: UnpackOptions): Bytes {
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => zlib.Gunzip };
  if (createZstdDecompress !== undefined) return unpackedBy(file, createZstdDecompress());
  const program = findProgram("zstd", path, { outside: avoid });
  if (program !== undefined) return outputOf(program, file);
  throw new StoreError(
    "not-installed",
    `${file} is packed with zstd, which this Node (${process.version}) cannot unpack. Install the program 'zstd', or Node 22.15 or later, and try again.`,
  );
}

function unpackedBy(file: string, unpacker: zlib.Gunzip): Bytes {
  // The error comes out of the unpacker.
  return pipeline(createReadStream(file, PIECE), unpacker, () => {}) as Bytes;
}

async function* outputOf(program: string, file: string): AsyncGenerator<Uint8Array> {
  const child = spawn(program, ["-dcq", "--", file], { stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (words: string) => {
    errors = (errors + words).slice(0, 1000);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(errors.trim() || `zstd ended with ${code}`)),
    );
  });
  ended.catch(() => {});
  try {
    yield* child.stdout as Bytes;
    await ended;
  } finally {
    child.kill();
  }
}
