/**
 * A payload in stored form.
 *
 * 1. The canonical form is `JSON.stringify(payload)`: reading gives back exactly that text.
 * 2. A string over 8 KB leaves an empty string behind, a hole, and is stored as a blob under the hash of its content: the
 *    same output in ten events is there once. Holes are listed beside the body, so no payload can be mistaken for one. What
 *    is still over 8 KB then is a blob as a whole: bodies are short, and so a page of them is.
 * 3. Most payloads begin with the id of their turn or call. It is written out where the turn or call starts, which is metadata
 *    that never expires; bodies that follow leave it out and say how far back that event is: `origin`.
 * 4. `encoding` 0 is the bytes as they are, 1 is raw deflate, 2 is raw deflate with the dictionary of dictionary.ts, 3 is what
 *    stands between `{"text":"` and `"}`, 4 is nothing: what remains of a delta.
 */
import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { EXPIRED } from "../../protocol/events.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { DICTIONARY_2 } from "./dictionary.js";

const LARGE = 8 * 1024;
/** Below this, and when it saves less than a fifth, deflate is not worth the reader's time: most events are short pieces of text. */
const WORTH_DEFLATING = 128;
const WORTH_INFLATING = 0.8;
/** From here on the dictionary no longer matters, and a window that holds all of the text does. */
const LONG = 4 * 1024;
const LONG_DEFLATE = { level: 4 };
/** A small window and little memory: setting deflate up costs more than running it. */
const SHORT_DEFLATE = { level: 9, windowBits: 13, memLevel: 5, dictionary: DICTIONARY_2 };
/** The same window, and no more memory than LONG: a log has tens of thousands of these. */
const SHORT_INFLATE = { windowBits: 13, chunkSize: LONG, maxOutputLength: LONG, dictionary: DICTIONARY_2 };
/** Longer than any string can be: an honest blob never meets it. */
const INFLATED_MAX = 1024 * 1024 * 1024;

const TEXT_BEFORE = Buffer.from('{"text":"');
const TEXT_AFTER = Buffer.from('"}');
const EXPIRED_TEXT = Buffer.from(JSON.stringify({ text: EXPIRED }));

/** `{"turn":"turn_` and `{"call":"call_` are equally long. */
const ID_START = 14;
const ID_END = ID_START + 26;
const LEADING_ID = /^\{"(turn|call)":"\1_[0-9A-Z]{26}"$/;

export interface Encoded {
  readonly encoding: number;
  readonly body: Buffer;
}

export interface Blob extends Encoded {
  readonly hash: Buffer;
}

/** A payload to append; its body is encoded when the event before it is known. */
export interface PreparedPayload {
  /** All of it. */
  readonly json: Buffer;
  /** The content of the body. */
  readonly rest: Buffer;
  /** The places where strings were taken out, and the hash of each. */
  readonly holes?: Buffer;
  readonly blobs: readonly Blob[];
}

export interface StoredPayload extends Encoded {
  readonly holes?: Buffer | undefined;
}

export interface PayloadSources {
  /** The content of a hash. */
  blob(hash: Buffer): Encoded | undefined;
  /** The bytes of the id that was left out, when one was. */
  readonly leadingId?: Buffer | undefined;
}

type Path = readonly (string | number)[];
type Hole = readonly [path: Path, hash: string];

export function preparePayload(text: string): PreparedPayload {
  const json = Buffer.from(text);
  if (json.length <= LARGE) return { json, rest: json, blobs: [] };
  const holes: Hole[] = [];
  const blobs = new Map<string, Blob>();
  const takeOut = (path: Path, content: Buffer) => {
    const hash = blobHash(content);
    const name = hash.toString("hex");
    if (!blobs.has(name)) blobs.set(name, { hash, ...encode(content) });
    holes.push([path, name]);
  };
  let rest = Buffer.from(JSON.stringify(withoutLargeStrings(JSON.parse(text), [], takeOut)));
  if (rest.length > LARGE) {
    holes.length = 0;
    blobs.clear();
    takeOut([], json);
    rest = Buffer.from('""');
  }
  return { json, rest, holes: Buffer.from(JSON.stringify(holes)), blobs: [...blobs.values()] };
}

/** The id that a payload begins with, as a name for it. */
export function leadingIdOf(json: Buffer): string | undefined {
  const beginning = json.toString("latin1", 0, ID_END + 1);
  return LEADING_ID.test(beginning) ? beginning : undefined;
}

/** Its bytes, in a payload that begins with one. */
export function leadingIdBytes(json: Buffer): Buffer {
  return json.subarray(ID_START, ID_END);
}

export function withoutLeadingId(json: Buffer): Buffer {
  return Buffer.concat([json.subarray(0, ID_START), json.subarray(ID_END)]);
}

export function encode(bytes: Buffer): Encoded {
  if (bytes.length >= WORTH_DEFLATING) {
    const [encoding, options] = bytes.length < LONG ? [2, SHORT_DEFLATE] : [1, LONG_DEFLATE];
    const body = deflateRawSync(bytes, options);
    if (body.length < bytes.length * WORTH_INFLATING) return { encoding, body };
  }
  if (bytes.equals(EXPIRED_TEXT)) return { encoding: 4, body: Buffer.alloc(0) };
  const [before, after] = [TEXT_BEFORE.length, bytes.length - TEXT_AFTER.length];
  if (before <= after && TEXT_BEFORE.equals(bytes.subarray(0, before)) && TEXT_AFTER.equals(bytes.subarray(after))) {
    return { encoding: 3, body: bytes.subarray(before, after) };
  }
  return { encoding: 0, body: bytes };
}

/** Throws when the pieces do not fit together. */
export function decodePayload(
  stored: StoredPayload,
  { blob, leadingId }: PayloadSources,
): { readonly payload: JsonValue; readonly json: Buffer } {
  let body = decode(stored);
  if (leadingId) body = Buffer.concat([body.subarray(0, ID_START), leadingId, body.subarray(ID_START)]);
  if (stored.holes === undefined) return { payload: JSON.parse(body.toString()), json: body };
  const payload = withBlobs(JSON.parse(body.toString()), stored.holes, blob);
  return { payload, json: Buffer.from(JSON.stringify(payload)) };
}

function withBlobs(value: JsonValue, holes: Buffer, blob: PayloadSources["blob"]): JsonValue {
  let whole = value;
  for (const [path, name] of JSON.parse(holes.toString()) as readonly Hole[]) {
    const hash = Buffer.from(name, "hex");
    const found = blob(hash);
    if (found === undefined) throw new Error("a part of it is missing");
    const content = decode(found);
    if (!blobHash(content).equals(hash)) throw new Error("a part of it was changed");
    whole = filled(whole, path, JSON.parse(content.toString()));
  }
  return whole;
}

function decode({ encoding, body }: Encoded): Buffer {
  if (encoding === 0) return body;
  if (encoding === 1) return inflateRawSync(body, { maxOutputLength: INFLATED_MAX, chunkSize: chunkFor(body) });
  if (encoding === 2) return inflateRawSync(body, SHORT_INFLATE);
  if (encoding === 3) return framed(body);
  if (encoding === 4 && body.length === 0) return EXPIRED_TEXT;
  throw new Error(`it makes no sense in encoding ${encoding}`);
}

/** Most of what is long comes out in one piece, which saves joining it. */
function chunkFor({ length }: Buffer): number {
  return Math.max(16 * 1024, length * 4);
}

function framed(text: Buffer): Buffer {
  const end = TEXT_BEFORE.length + text.length;
  const bytes = Buffer.allocUnsafe(end + TEXT_AFTER.length);
  bytes.set(TEXT_BEFORE);
  bytes.set(text, TEXT_BEFORE.length);
  bytes.set(TEXT_AFTER, end);
  return bytes;
}

function blobHash(content: Buffer): Buffer {
  return createHash("sha256").update(content).digest();
}

/** `takeOut` says whether it has taken the string. */
function withoutLargeStrings(value: JsonValue, path: Path, takeOut: (path: Path, json: Buffer) => void): JsonValue {
  if (typeof value === "string") {
    if (value.length <= LARGE && Buffer.byteLength(value) <= LARGE) return value;
    takeOut(path, Buffer.from(JSON.stringify(value)));
    return "";
  }
  if (Array.isArray(value)) {
    return value.map((item: JsonValue, i) => withoutLargeStrings(item, [...path, i], takeOut));
  }
  if (typeof value !== "object" || value === null) return value;
  // defineProperty through fromEntries: a key may be called __proto__.
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [
      key,
      withoutLargeStrings(item as JsonValue, [...path, key], takeOut),
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
