/**
 * The raw model traffic of a session, for `/debug:raw` and `oxbow debug`: a file for each session, `debug/SESSION.jsonl` of the state folder.
 *
 * 1. It is not redacted, so each line is encrypted with the key of the sessions, and bound to its session. Keys of providers never reach it.
 * 2. A line that was cut off by a crash damages no other.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SessionId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import { namesIn } from "../../system/names-in.js";
import type { Roots } from "../../system/xdg-paths.js";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ENDING = ".jsonl";

export interface RawTrafficPlace {
  readonly roots: Pick<Roots, "state">;
  readonly session: SessionId;
  /** Made from the user's key for `keyPurpose(session)`. */
  readonly key: Uint8Array;
}

export const keyPurpose = (session: SessionId) => `oxbow raw traffic 1 ${session}`;

export class RawTraffic {
  readonly file: string;
  readonly #key: Uint8Array;

  constructor({ roots, session, key }: RawTrafficPlace) {
    this.file = rawTrafficFile(roots, session);
    this.#key = key;
  }

  write(record: JsonObject): void {
    mkdirSync(join(this.file, ".."), { recursive: true, mode: 0o700 });
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const body = cipher.update(JSON.stringify({ ts: new Date().toISOString(), ...record }));
    cipher.final();
    const line = Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
    appendFileSync(this.file, `${line}\n`, { mode: 0o600 });
  }

  /** The records as JSON, a line each, and how many lines cannot be read. */
  read(): { readonly lines: readonly string[]; readonly damaged: number } {
    const sealed = readFileSync(this.file, "latin1")
      .split("\n")
      .filter((line) => line !== "");
    const lines = sealed.flatMap((line) => this.#open(line) ?? []);
    return { lines, damaged: sealed.length - lines.length };
  }

  #open(line: string): string | undefined {
    const bytes = Buffer.from(line, "base64");
    const at = NONCE_BYTES + TAG_BYTES;
    if (bytes.length < at) return undefined;
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), options);
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, at));
    try {
      const plain = decipher.update(bytes.subarray(at));
      decipher.final();
      return plain.toString("utf8");
    } catch {
      return undefined;
    }
  }
}

export interface RawTrafficFile {
  readonly session: string;
  readonly bytes: number;
  readonly changed: string;
}

/** The newest first. */
export function listRawTraffic(roots: Pick<Roots, "state">): readonly RawTrafficFile[] {
  const folder = debugFolder(roots);
  return namesIn(folder)
    .filter((name) => name.startsWith("sess_") && name.endsWith(ENDING))
    .map((name) => {
      const { size, mtime } = statSync(join(folder, name));
      return { session: name.slice(0, -ENDING.length), bytes: size, changed: mtime.toISOString() };
    })
    .sort((one, other) => (one.changed < other.changed ? 1 : -1));
}

export function rawTrafficFile(roots: Pick<Roots, "state">, session: string): string {
  return join(debugFolder(roots), `${session}${ENDING}`);
}

function debugFolder({ state }: Pick<Roots, "state">): string {
  return join(state, "debug");
}
