/**
 * ULIDs and the typed ids made of them.
 *
 * 1. Ids from one source sort in the order they were made, even within one millisecond and when the clock steps back.
 */
import type { Id, IdPrefix } from "../protocol/ids.js";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export interface IdSource {
  next<P extends IdPrefix>(prefix: P): Id<P>;
}

export interface IdSourceOptions {
  readonly wall: () => number;
  /** Fills the array with random bytes. */
  readonly random: (bytes: Uint8Array) => void;
}

export function createIdSource({ wall, random }: IdSourceOptions): IdSource {
  let lastTime = -1;
  const digits = new Uint8Array(16);
  return {
    next(prefix) {
      const time = wall();
      if (time > lastTime) {
        lastTime = time;
        random(digits);
        for (let i = 0; i < digits.length; i++) digits[i] = (digits[i] as number) & 31;
      } else if (!increment(digits)) {
        // The random part is exhausted: use the next millisecond, which keeps the order.
        lastTime++;
      }
      return `${prefix}_${encodeTime(lastTime)}${encodeDigits(digits)}`;
    },
  };
}

/** Adds one; false when that wrapped to zero. */
function increment(digits: Uint8Array): boolean {
  for (let i = digits.length - 1; i >= 0; i--) {
    const digit = digits[i] as number;
    if (digit < 31) {
      digits[i] = digit + 1;
      return true;
    }
    digits[i] = 0;
  }
  return false;
}

function encodeTime(time: number): string {
  let rest = time;
  let out = "";
  for (let i = 0; i < 10; i++) {
    out = ALPHABET[rest % 32] + out;
    rest = Math.floor(rest / 32);
  }
  return out;
}

function encodeDigits(digits: Uint8Array): string {
  let out = "";
  for (const digit of digits) out += ALPHABET[digit];
  return out;
}
