/** Call ids in 16 bytes instead of 31 letters; in the same order. */
import { type CallId, isId } from "../../protocol/ids.js";
import { StoreError } from "../store.js";

const PREFIX = "call_";
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LETTERS = 26;
const BITS_PER_LETTER = 5n;

export function callIdToBytes(call: string): Buffer {
  if (!isId("call", call)) throw new StoreError("invalid", `'${call}' is not a call id.`);
  let value = 0n;
  for (const letter of call.slice(PREFIX.length)) value = (value << BITS_PER_LETTER) | BigInt(ALPHABET.indexOf(letter));
  return Buffer.from(value.toString(16).padStart(32, "0"), "hex");
}

export function callIdFromBytes(bytes: Uint8Array): CallId {
  let value = BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
  let letters = "";
  for (let i = 0; i < LETTERS; i++) {
    letters = ALPHABET.charAt(Number(value & 31n)) + letters;
    value >>= BITS_PER_LETTER;
  }
  return `${PREFIX}${letters}`;
}
