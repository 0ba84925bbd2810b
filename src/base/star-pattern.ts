/**
 * Patterns of stars for a whole text. Unlike a regular expression, no text makes one slow: the time is bounded by the product of both
 * lengths.
 */

/** Also a regular expression. */
export interface TextPattern {
  test(text: string): boolean;
}

/** `ANY`: any characters; `IN_NAME`: any but slashes; `ONE`, `ONE_IN_NAME`: one such character; a text: itself. */
export type PatternPart = string | typeof ANY | typeof IN_NAME | typeof ONE | typeof ONE_IN_NAME | typeof FOLDERS;

export const ANY = Symbol("any characters");
export const IN_NAME = Symbol("any characters of a name");
export const ONE = Symbol("one character");
export const ONE_IN_NAME = Symbol("one character of a name");
/** Nothing, or any text that ends with a slash. */
export const FOLDERS = Symbol("any folders");

/** One character or star; `OPTIONAL`: it and the two after it may be skipped. */
type Token = string | Exclude<PatternPart, string | typeof FOLDERS> | typeof OPTIONAL;

const OPTIONAL = Symbol("the next two are optional");

export function starPattern(parts: readonly PatternPart[]): TextPattern {
  const tokens = parts.flatMap((part): readonly Token[] => {
    if (part === FOLDERS) return [OPTIONAL, ANY, "/"];
    return typeof part === "string" ? [...part] : [part];
  });
  return { test: (text) => fits(tokens, text) };
}

/** `*` is any text, `?` one character. Upper and lower case are the same. */
export function namePattern(glob: string): TextPattern {
  const parts = [...glob.toLowerCase()].map((sign) => (sign === "*" ? ANY : sign === "?" ? ONE : sign));
  const pattern = starPattern(parts);
  return { test: (text) => pattern.test(text.toLowerCase()) };
}

/** Follows all ways through the pattern at once. */
function fits(tokens: readonly Token[], text: string): boolean {
  let places = reachable(tokens, [0]);
  for (const character of text) {
    const next: number[] = [];
    for (const place of places) {
      const token = tokens[place];
      if (token === undefined || !takes(token, character)) continue;
      next.push(token === ANY || token === IN_NAME ? place : place + 1);
    }
    if (next.length === 0) return false;
    places = reachable(tokens, next);
  }
  return places.has(tokens.length);
}

/** The places, and those behind stars and optional parts. */
function reachable(tokens: readonly Token[], from: readonly number[]): ReadonlySet<number> {
  const places = new Set<number>();
  const waiting = [...from];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (places.has(place)) continue;
    places.add(place);
    const token = tokens[place];
    if (token === ANY || token === IN_NAME || token === OPTIONAL) waiting.push(place + 1);
    if (token === OPTIONAL) waiting.push(place + 3);
  }
  return places;
}

function takes(token: Token, character: string): boolean {
  if (typeof token === "string") return token === character;
  if (token === ANY || token === ONE) return true;
  return token !== OPTIONAL && character !== "/";
}
