/**
 * Patterns for a whole text: characters, stars, sets and alternatives. Unlike a regular expression, no text makes one slow: the time is
 * bounded by the product of both lengths.
 */

/** Also a regular expression. */
export interface TextPattern {
  test(text: string): boolean;
}

export const ANY = Symbol("any characters");
export const IN_NAME = Symbol("any characters but slashes");
export const ONE = Symbol("one character");
export const ONE_IN_NAME = Symbol("one character but a slash");
/** Nothing, or any text that ends with a slash. */
export const FOLDERS = Symbol("any folders");

/** One character of the ranges, or none of them; never a slash. */
export interface CharacterSet {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [low: string, high: string])[];
}

/** A text stands for itself, an array for one of its branches. */
export type PatternPart =
  | string
  | typeof ANY
  | typeof IN_NAME
  | typeof ONE
  | typeof ONE_IN_NAME
  | typeof FOLDERS
  | CharacterSet
  | readonly (readonly PatternPart[])[];

export function starPattern(parts: readonly PatternPart[]): TextPattern {
  return isQuick(parts) ? new RegExp(`^${sourceOf(parts)}$`, "u") : new AllWays(parts);
}

/** `*` is any text, `?` one character. Upper and lower case are the same. */
export function namePattern(glob: string): TextPattern {
  const parts = [...glob.toLowerCase()].map((sign) => (sign === "*" ? ANY : sign === "?" ? ONE : sign));
  const pattern = starPattern(parts);
  return { test: (text) => pattern.test(text.toLowerCase()) };
}

/** With few stars and alternatives a regular expression cannot be slow, and it is faster than the way below. */
function isQuick(parts: readonly PatternPart[]): boolean {
  const all = [...allParts(parts)];
  const count = (star: symbol) => all.filter((part) => part === star).length;
  const choices = all.filter((part) => Array.isArray(part) && part.length > 1).length;
  return count(ANY) <= 1 && count(FOLDERS) <= 2 && count(IN_NAME) <= 2 && choices <= 3;
}

function* allParts(parts: readonly PatternPart[]): Iterable<PatternPart> {
  for (const part of parts) {
    yield part;
    if (Array.isArray(part)) for (const branch of part) yield* allParts(branch);
  }
}

function sourceOf(parts: readonly PatternPart[]): string {
  return parts.map(partSource).join("");
}

function partSource(part: PatternPart): string {
  if (typeof part === "string") return part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  if (typeof part === "symbol") return SOURCES.get(part) ?? "";
  if (!("ranges" in part)) return `(?:${part.map(sourceOf).join("|")})`;
  const members = part.ranges.map(([low, high]) => `${memberSource(low)}-${memberSource(high)}`).join("");
  return part.negated ? `[^/${members}]` : `(?!/)[${members}]`;
}

function memberSource(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

const SOURCES: ReadonlyMap<symbol, string> = new Map([
  [ANY, "[^]*"],
  [IN_NAME, "[^/]*"],
  [ONE, "[^]"],
  [ONE_IN_NAME, "[^/]"],
  [FOLDERS, "(?:[^]*\\/)?"],
]);

/** A place in the pattern: takes one character on the way to another place, or leads to others without one. */
type Place =
  | { readonly takes: (character: string) => boolean; readonly to: number }
  | { readonly ways: readonly number[] };

/** Follows all ways through the pattern at once. */
class AllWays implements TextPattern {
  readonly #places: Place[] = [{ ways: [] }];
  readonly #start: number;

  constructor(parts: readonly PatternPart[]) {
    this.#start = this.#add(parts, END);
  }

  test(text: string): boolean {
    let places = this.#reachable([this.#start]);
    for (const character of text) {
      const next: number[] = [];
      for (const each of places) {
        const place = this.#places[each];
        if (place !== undefined && "takes" in place && place.takes(character)) next.push(place.to);
      }
      if (next.length === 0) return false;
      places = this.#reachable(next);
    }
    return places.has(END);
  }

  #reachable(from: readonly number[]): ReadonlySet<number> {
    const reached = new Set<number>();
    const waiting = [...from];
    for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
      if (reached.has(each)) continue;
      reached.add(each);
      const place = this.#places[each];
      if (place !== undefined && "ways" in place) waiting.push(...place.ways);
    }
    return reached;
  }

  /** Adds the parts before the place `to`, and returns the place where they start. */
  #add(parts: readonly PatternPart[], to: number): number {
    return parts.reduceRight<number>((next, part) => this.#addPart(part, next), to);
  }

  #addPart(part: PatternPart, to: number): number {
    if (typeof part === "string") {
      return [...part].reduceRight(
        (next, sign) => this.#put({ takes: (character) => character === sign, to: next }),
        to,
      );
    }
    if (part === ANY || part === IN_NAME) {
      const loop = this.#places.length + 1;
      const star = this.#put({ ways: [loop, to] });
      this.#put({ takes: part === ANY ? isAny : isInName, to: star });
      return star;
    }
    if (part === FOLDERS) return this.#put({ ways: [this.#add([ANY, "/"], to), to] });
    if (part === ONE || part === ONE_IN_NAME) return this.#put({ takes: part === ONE ? isAny : isInName, to });
    if (!("ranges" in part)) return this.#put({ ways: part.map((branch) => this.#add(branch, to)) });
    return this.#put({ takes: (character) => isInSet(part, character), to });
  }

  #put(place: Place): number {
    return this.#places.push(place) - 1;
  }
}

const END = 0;
const isAny = () => true;
const isInName = (character: string) => character !== "/";

function isInSet({ negated, ranges }: CharacterSet, character: string): boolean {
  if (character === "/") return false;
  const code = character.codePointAt(0) ?? 0;
  return (
    negated !== ranges.some(([low, high]) => (low.codePointAt(0) ?? 0) <= code && code <= (high.codePointAt(0) ?? 0))
  );
}
