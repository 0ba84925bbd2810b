/**
 * Describes what to look for, in the words of a search box: `word "a phrase" -without`. Case and accents make no difference, and where a
 * phrase has a blank the text may have any run of them.
 */
import { groupDigits } from "../base/group-digits.js";
import { StoreError } from "./store.js";

export interface SearchQuery {
  /** Each must be there. */
  readonly wanted: readonly RegExp[];
  /** None may be there. */
  readonly unwanted: readonly RegExp[];
  /** Those of `wanted` that stand in quotation marks. */
  readonly phrases: readonly RegExp[];
  /** All wanted words, for a ranking. */
  readonly words: string;
}

/** To look for a word takes time in proportion to its length. */
const MOST_QUERY = 1000;

export function checkQuery(text: string): void {
  if (text.length <= MOST_QUERY) return;
  throw new StoreError("invalid", `A search has at most ${groupDigits(MOST_QUERY)} characters.`);
}

export function parseSearchQuery(text: string): SearchQuery {
  checkQuery(text);
  const wanted = new Map<string, RegExp>();
  const unwanted = new Map<string, RegExp>();
  const phrases = new Map<string, RegExp>();
  for (const [, minus, phrase, word] of text.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)) {
    const term = fold(phrase ?? word ?? "").trim();
    if (term === "") continue;
    const pattern = term.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/\s+/g, "\\s+");
    const found = new RegExp(pattern, "g");
    (minus === "" ? wanted : unwanted).set(term, found);
    if (minus === "" && phrase !== undefined) phrases.set(term, found);
  }
  const words = [...wanted.keys()].join(" ");
  return { wanted: [...wanted.values()], unwanted: [...unwanted.values()], phrases: [...phrases.values()], words };
}

/** To make a character comparable takes as long as so many comparisons. */
export const FOLDING = 8;

const ASCII = /^[\0-\x7f]*$/;

/** The text for comparison. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ς", "σ");
}

/** The characters of `text` that `from` up to `to` of `fold(text)` was made of, with the accents that follow them. */
export function unfoldedRange(text: string, from: number, to: number): [number, number] {
  if (ASCII.test(text)) return [from, to];
  let start: number | undefined;
  let at = 0;
  let folded = 0;
  for (const character of text) {
    const { length } = fold(character);
    if (folded >= to && length > 0) break;
    if (start === undefined && folded + length > from) start = at;
    at += character.length;
    folded += length;
  }
  return [start ?? at, at];
}
