/** Proves that the same program requests and redeems a code (RFC 7636). The challenge goes through the browser, the verifier never does. */
import { createHash } from "node:crypto";

export interface Proof {
  readonly verifier: string;
  readonly challenge: string;
  /** Returns with the code, so that the code of another sign-in is rejected. */
  readonly state: string;
}

export type RandomBytes = (count: number) => Uint8Array;

/** 32 bytes are 43 characters, the least that the standard allows and 256 bits. */
const BYTES = 32;

export function newProof(random: RandomBytes): Proof {
  const verifier = base64url(random(BYTES));
  return { verifier, challenge: challengeOf(verifier), state: base64url(random(BYTES)) };
}

/** S256, the only secure method. */
export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier, "ascii").digest("base64url");
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
