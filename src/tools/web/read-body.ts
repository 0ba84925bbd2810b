/** Reads and decompresses a body up to a limit, which also stops a small body that decompresses to a huge one. */
import { pipeline, Readable } from "node:stream";
import type { HttpResponse } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import { FetchError } from "./fetch-error.js";

export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

export interface Body {
  readonly bytes: Buffer;
  /** The body was longer. */
  readonly cut: boolean;
}

export async function readBody(response: HttpResponse, limit: number): Promise<Body> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of await unpacked(response)) {
      pieces.push(piece);
      length += piece.length;
      if (length > limit) break;
    }
  } catch (error) {
    if (error instanceof FetchError || error instanceof HttpError) throw error;
    throw new FetchError("The body is compressed, and damaged.");
  } finally {
    response.destroy();
  }
  return { bytes: Buffer.concat(pieces).subarray(0, limit), cut: length > limit };
}

async function unpacked({ headers, body }: HttpResponse): Promise<AsyncIterable<Uint8Array>> {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return body;
  const zlib = await import("node:zlib");
  // For an incomplete body, return the part that could be decompressed.
  const lenient = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  const unpackers = {
    gzip: () => zlib.createGunzip(lenient),
    "x-gzip": () => zlib.createGunzip(lenient),
    deflate: () => zlib.createInflate(lenient),
    br: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  };
  // More than one layer suggests a decompression bomb.
  if (!Object.hasOwn(unpackers, encoding)) throw new FetchError("The body is compressed in an unknown way.");
  const unpacker = unpackers[encoding as keyof typeof unpackers]();
  // An error on either side ends the other; the reader receives it.
  pipeline(Readable.from(body, { objectMode: false }), unpacker, () => {});
  return unpacker;
}
