/**
 * A payload as it is stored.
 *
 * 1. The canonical form is `JSON.stringify(payload)`: reading gives back exactly that text.
 * 2. A string over 8 KB leaves an empty string behind, a hole, and is stored as a blob under the hash of its content: the
 *    same output in ten events is there once. Holes are listed beside the body, so no payload can be mistaken for one.
 * 3. `encoding` 0 is the bytes as they are, 1 is raw deflate, 2 is raw deflate with the dictionary of dictionary.ts.
 */
import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { DICTIONARY_2 } from "./dictionary.js";

const LARGE_STRING = 8 * 1024;
/** Below this, and when it saves less than a fifth, deflate is not worth the reader's time: most events are short pieces of text. */
const WORTH_DEFLATING = 96;
const WORTH_INFLATING = 0.8;
/** From here on the dictionary no longer matters, and a window that holds all of the text does. */
const LONG = 4 * 1024;
const LONG_DEFLATE = { level: 4 };
/** A small window and little memory: setting deflate up costs more than running it. */
const SHORT_DEFLATE = { level: 4, windowBits: 13, memLevel: 5, dictionary: DICTIONARY_2 };
/** Longer than any string can be: an honest blob never meets it. */
const INFLATED_MAX = 1024 * 1024 * 1024;

export interface Encoded {
  readonly encoding: number;
  readonly body: Buffer;
}

export interface Blob extends Encoded {
  readonly hash: Buffer;
}

export interface StoredPayload extends Encoded {
  /** Where strings were taken out, and the hash of each. */
  readonly holes?: Buffer | undefined;
}

export interface EncodedPayload extends StoredPayload {
  readonly json: Buffer;
  readonly blobs: readonly Blob[];
}

type Path = readonly (string | number)[];
type Hole = readonly [path: Path, hash: string];

export function encodePayload(payload: unknown): EncodedPayload {
  const text = JSON.stringify(payload);
  if (text === undefined) throw new TypeError("it has no JSON form");
  const json = Buffer.from(text);
  if (json.length <= LARGE_STRING) return { json, blobs: [], ...encode(json) };
  const holes: Hole[] = [];
  const blobs = new Map<string, Blob>();
  const rest = withoutLargeStrings(JSON.parse(text), [], (path, value) => {
    const content = Buffer.from(JSON.stringify(value));
    const hash = blobHash(content);
    const name = hash.toString("hex");
    if (!blobs.has(name)) blobs.set(name, { hash, ...encode(content) });
    holes.push([path, name]);
  });
  if (holes.length === 0) return { json, blobs: [], ...encode(json) };
  const list = Buffer.from(JSON.stringify(holes));
  return { json, blobs: [...blobs.values()], holes: list, ...encode(Buffer.from(JSON.stringify(rest))) };
}

/** `blob` finds what stands under a hash. Throws when the pieces do not fit together. */
export function decodePayload(
  stored: StoredPayload,
  blob: (hash: Buffer) => Encoded | undefined,
): { readonly payload: JsonValue; readonly json: Buffer } {
  const body = decode(stored);
  let payload = JSON.parse(body.toString()) as JsonValue;
  if (stored.holes === undefined) return { payload, json: body };
  for (const [path, name] of JSON.parse(stored.holes.toString()) as readonly Hole[]) {
    const hash = Buffer.from(name, "hex");
    const found = blob(hash);
    if (found === undefined) throw new Error("a part of it is missing");
    const content = decode(found);
    if (!blobHash(content).equals(hash)) throw new Error("a part of it was changed");
    payload = filled(payload, path, JSON.parse(content.toString()));
  }
  return { payload, json: Buffer.from(JSON.stringify(payload)) };
}

function encode(bytes: Buffer): Encoded {
  if (bytes.length >= WORTH_DEFLATING) {
    const [encoding, options] = bytes.length < LONG ? [2, SHORT_DEFLATE] : [1, LONG_DEFLATE];
    const body = deflateRawSync(bytes, options);
    if (body.length < bytes.length * WORTH_INFLATING) return { encoding, body };
  }
  return { encoding: 0, body: bytes };
}

function decode({ encoding, body }: Encoded): Buffer {
  if (encoding === 0) return body;
  if (encoding === 1) return inflateRawSync(body, { maxOutputLength: INFLATED_MAX });
  if (encoding === 2) return inflateRawSync(body, { maxOutputLength: INFLATED_MAX, dictionary: DICTIONARY_2 });
  throw new Error(`its encoding ${encoding} is unknown`);
}

function blobHash(content: Buffer): Buffer {
  return createHash("sha256").update(content).digest();
}

function withoutLargeStrings(value: JsonValue, path: Path, found: (path: Path, value: string) => void): JsonValue {
  if (typeof value === "string") {
    if (value.length <= LARGE_STRING && Buffer.byteLength(value) <= LARGE_STRING) return value;
    found(path, value);
    return "";
  }
  if (Array.isArray(value)) {
    return value.map((item: JsonValue, i) => withoutLargeStrings(item, [...path, i], found));
  }
  if (typeof value !== "object" || value === null) return value;
  // defineProperty by way of fromEntries: a key may be called __proto__.
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [
      key,
      withoutLargeStrings(item as JsonValue, [...path, key], found),
    ]),
  );
}

/** `value` is our own fresh copy, so it is filled in place. */
function filled(value: JsonValue, path: Path, content: JsonValue): JsonValue {
  const last = path.at(-1);
  if (last === undefined) return content;
  let holder: unknown = value;
  for (const key of path.slice(0, -1)) holder = child(holder, key);
  if (child(holder, last) !== "") throw new Error("a part of it has no place");
  (holder as Record<string | number, JsonValue>)[last] = content;
  return value;
}

function child(holder: unknown, key: string | number): unknown {
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) {
    throw new Error("a part of it has no place");
  }
  return (holder as Record<string | number, unknown>)[key];
}
