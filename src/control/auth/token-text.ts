/**
 * Tokens as text: `oxb1.CLAIMS.SIGNATURE`, the claims as JSON and both parts in base64url. The signature is an HMAC-SHA256 of
 * everything before it.
 *
 * 1. The claims are not read before the signature was found right.
 * 2. Signatures are compared in constant time.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type ReadClaims, readClaims, type TokenClaims } from "./claims.js";

const FORM = "oxb1";
const MOST_CHARACTERS = 8192;

export function signToken(claims: TokenClaims, key: Uint8Array): string {
  const body = `${FORM}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${body}.${signature(body, key).toString("base64url")}`;
}

/** Undefined if it is not a token of this key. */
export function readToken(text: string, key: Uint8Array): ReadClaims | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const [form, claims, signed, ...rest] = text.split(".");
  if (form !== FORM || claims === undefined || signed === undefined || rest.length > 0) return undefined;
  const expected = signature(`${form}.${claims}`, key);
  const given = Buffer.from(signed, "base64url");
  // base64url has several spellings of the same bytes; only one of them is the token.
  if (given.length !== expected.length || given.toString("base64url") !== signed) return undefined;
  if (!timingSafeEqual(given, expected)) return undefined;
  try {
    return readClaims(JSON.parse(Buffer.from(claims, "base64url").toString("utf8")));
  } catch {
    return { problem: "the claims are not JSON" };
  }
}

function signature(body: string, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(body).digest();
}
