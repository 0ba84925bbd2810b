/**
 * Removes a secret from the answers of a provider: some repeat a key in an error. It is overwritten with stars, byte for byte, so that
 * every length in the answer stays right and nothing has to be parsed.
 *
 * 1. A secret that the network splits is found, too: if a piece ends with a possible beginning of the secret, that end waits for the next
 *    piece, or for a moment.
 */
import type { Clock } from "../../../base/clock.js";

const STAR = 0x2a;
const HOLD_MS = 20;
/** Shorter texts are not secrets, and would fill an answer with stars. */
const SHORTEST = 8;

export class SecretFilter {
  readonly #secrets: readonly Buffer[];
  readonly #send: (piece: Buffer) => void;
  readonly #clock: Clock;
  #held: Buffer | undefined;
  #cancel = () => {};

  constructor(secrets: readonly string[], options: { readonly clock: Clock; readonly send: (piece: Buffer) => void }) {
    this.#secrets = secrets.filter((secret) => secret.length >= SHORTEST).map((secret) => Buffer.from(secret));
    this.#clock = options.clock;
    this.#send = options.send;
  }

  push(piece: Buffer): void {
    const all = this.#held === undefined ? piece : Buffer.concat([this.#held, piece]);
    this.#held = undefined;
    this.#cancel();
    let hold = 0;
    for (const secret of this.#secrets) {
      for (let at = all.indexOf(secret); at >= 0; at = all.indexOf(secret, at + secret.length)) {
        all.fill(STAR, at, at + secret.length);
      }
      hold = Math.max(hold, beginningAtEnd(all, secret));
    }
    if (hold < all.length) this.#send(hold === 0 ? all : all.subarray(0, all.length - hold));
    if (hold === 0) return;
    this.#held = all.subarray(all.length - hold);
    this.#cancel = this.#clock.after(HOLD_MS, () => this.flush());
  }

  flush(): void {
    this.#cancel();
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#send(held);
  }
}

/** Counts how many bytes at the end are the beginning of the secret. */
function beginningAtEnd(bytes: Buffer, secret: Buffer): number {
  const first = secret[0] ?? 0;
  let at = bytes.indexOf(first, Math.max(0, bytes.length - secret.length + 1));
  while (at >= 0) {
    if (secret.compare(bytes, at, bytes.length, 0, bytes.length - at) === 0) return bytes.length - at;
    at = bytes.indexOf(first, at + 1);
  }
  return 0;
}
