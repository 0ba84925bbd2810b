/**
 * The bytes of `creds.enc`.
 *
 * 1. Two lines. The first is JSON: the format, its version, what kind of key opens it, and a catalogue of the entries without their
 *    secrets. The second is base64 of a nonce (12 bytes), the entries as JSON under AES-256-GCM, and the tag (16 bytes).
 * 2. The first line is authenticated with the second: every changed, exchanged or missing byte is detected. An older
 *    version of the whole file is not detected.
 * 3. The file's key is derived from the user's key, so that one machine key may also open other things.
 * 4. Each write uses a new random nonce.
 * 5. `key.check` distinguishes a wrong key from damage. It is derived like the file's key and says nothing about it.
 * 6. A reader refuses a greater version; it ignores fields it does not know.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import {
  type Catalogue,
  damaged,
  FORMAT,
  FORMAT_VERSION,
  firstLine,
  type KeyOrigin,
  parseCatalogue,
} from "./catalogue.js";
import { CredentialError } from "./credential-error.js";
import type { CredentialEntry } from "./entry.js";

export interface FileKey {
  readonly key: Uint8Array;
  readonly from: KeyOrigin;
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHECK_BYTES = 8;

export function seal(entries: readonly CredentialEntry[], { key, from }: FileKey): string {
  const header = {
    format: FORMAT,
    version: FORMAT_VERSION,
    key: { from, check: checkOf(key) },
    entries: entries.map(catalogued),
  };
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, fileKey(key), nonce).setAAD(line);
  const secret = Buffer.concat([nonce, cipher.update(JSON.stringify(entries), "utf8"), cipher.final()]);
  return `${line}${Buffer.concat([secret, cipher.getAuthTag()]).toString("base64")}\n`;
}

/** `text` is one byte a character, as it was read. */
export function unseal(text: string, key: Uint8Array, path: string): readonly CredentialEntry[] {
  const line = firstLine(text);
  const catalogue = parseCatalogue(line, path);
  if (catalogue.key.check !== checkOf(key)) throw wrongKey(catalogue, path);
  const rest = text.slice(line.length + 1);
  const sealed = Buffer.from(rest, "base64");
  // Lenient decoders read many texts as the same bytes; only the one that was written counts.
  if (rest !== `${sealed.toString("base64")}\n` || sealed.length < NONCE_BYTES + TAG_BYTES) throw damaged(path);
  const decipher = createDecipheriv(CIPHER, fileKey(key), sealed.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(`${line}\n`, "latin1"))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const body = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
    return JSON.parse(Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8"));
  } catch {
    throw damaged(path);
  }
}

function wrongKey({ key: { from } }: Catalogue, path: string): CredentialError {
  const advice: Readonly<Record<KeyOrigin, string>> = {
    "machine-key": "OXBOW_MACHINE_KEY is not the one it was written with",
    passphrase: "the passphrase is not the one it was written with",
    keychain: "the key in the keychain is not the one it was written with",
    "key-file": "the key file is not the one it was written with",
  };
  return new CredentialError("wrong-key", `Oxbow cannot open ${path}: ${advice[from]}. Nothing was changed.`);
}

function catalogued(entry: CredentialEntry): Catalogue["entries"][number] {
  const { provider, account, kind, endpoint, addedAt } = entry;
  const identity = entry.kind === "oauth" ? entry.tokens.identity : undefined;
  return { provider, account, kind, baseUrl: endpoint.baseUrl, addedAt, ...(identity !== undefined && { identity }) };
}

function fileKey(key: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", "oxbow credentials 1", 32));
}

function checkOf(key: Uint8Array): string {
  return Buffer.from(hkdfSync("sha256", key, "", "oxbow credentials check 1", CHECK_BYTES)).toString("hex");
}
