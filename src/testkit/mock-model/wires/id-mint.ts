/**
 * Ids in the style of the services. Each server uses other random ids, so that a session resumed on another server never gets one of
 * its own ids again.
 */
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const HEX = "0123456789abcdef";

export interface IdMint {
  /** `prefix` and `length` letters after it. */
  id(prefix: string, length: number): string;
  hex(prefix: string, length: number): string;
}

export function createIdMint(seed: number): IdMint {
  const random = seededRandom(seed);
  const draw = (alphabet: string, length: number) => {
    let out = "";
    for (let i = 0; i < length; i++) out += alphabet[Math.floor(random() * alphabet.length)];
    return out;
  };
  return {
    id: (prefix, length) => prefix + draw(BASE58, length),
    hex: (prefix, length) => prefix + draw(HEX, length),
  };
}

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
