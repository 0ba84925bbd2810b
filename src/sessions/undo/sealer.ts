/**
 * Keeps the journal's bytes from other eyes.
 *
 * 1. Everything is encrypted and authenticated with AES-256-GCM under a key of this journal alone, made by HKDF from the key
 *    given, a salt in the file and the session's id.
 * 2. A frame is bound to its place in the file and its kind: it cannot be moved, repeated or used as another kind.
 * 3. Content is named by a keyed hash. Who does not have the key cannot even test whether a known file is in there.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

export const SALT_BYTES = 24;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

/** Counts what sealing adds to the length. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;

export interface Place {
  /** Where in the file the frame begins. */
  readonly position: number;
  /** The byte for the kind of frame. */
  readonly kind: number;
}

export class Sealer {
  readonly #encryption: Buffer;
  readonly #naming: Buffer;
  #random = Buffer.alloc(0);

  constructor(key: Uint8Array, salt: Uint8Array, session: string) {
    const derived = Buffer.from(hkdfSync("sha256", key, salt, `oxbow undo 1 ${session}`, 64));
    this.#encryption = derived.subarray(0, 32);
    this.#naming = derived.subarray(32);
  }

  seal(plain: Uint8Array, place: Place): Buffer {
    const nonce = this.#nonce();
    const cipher = createCipheriv(CIPHER, this.#encryption, nonce);
    cipher.setAAD(boundTo(place));
    const body = cipher.update(plain);
    cipher.final();
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }

  /** Undefined when these are not bytes that were sealed with this key for this place. */
  open(sealed: Uint8Array, place: Place): Buffer | undefined {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < SEAL_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#encryption, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, SEAL_BYTES));
    decipher.setAAD(boundTo(place));
    try {
      const plain = decipher.update(bytes.subarray(SEAL_BYTES));
      decipher.final();
      return plain;
    } catch {
      return undefined;
    }
  }

  /** Random and never used again: a frame may be written again after an unfinished one. */
  #nonce(): Buffer {
    // One by one they would take as long as the encryption.
    if (this.#random.length < NONCE_BYTES) this.#random = randomBytes(NONCE_BYTES * 64);
    const nonce = this.#random.subarray(0, NONCE_BYTES);
    this.#random = this.#random.subarray(NONCE_BYTES);
    return nonce;
  }

  /** Names these bytes. */
  address(content: Uint8Array): string {
    return createHmac("sha256", this.#naming).update(content).digest().subarray(0, 18).toString("base64url");
  }
}

function boundTo({ position, kind }: Place): Buffer {
  const bound = Buffer.alloc(9);
  bound.writeUInt8(kind, 0);
  bound.writeBigUInt64LE(BigInt(position), 1);
  return bound;
}
