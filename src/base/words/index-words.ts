/**
 * The words by which texts are found: the same for what is stored and for what is asked, so a full-text index only compares them.
 * The patterns take a millisecond to compile, so no code on the path to the first request loads this.
 *
 * 1. Case and accents do not count, and English words count by their stem.
 * 2. `getUserName`, `user_name` and `user-name` count as a whole and as their parts.
 * 3. Chinese, Japanese, Korean and Thai have no blanks between words: pairs of their characters count.
 * 4. A word contains no ASCII character but letters and digits, so it means the same in a query of the index.
 */
import { porterStem } from "./porter-stem.js";

/** Grows when a text gets other words, so that an index follows. */
export const WORD_RULE = 2;

const WORD = /[\p{L}\p{N}\p{M}_]+(?:['’-][\p{L}\p{N}\p{M}_]+)*/gu;
const PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}]+|\p{N}+/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;
const ASCII = /^[\0-\x7f]*$/;
const MOST_LENGTH = 64;
const MOST_REMEMBERED = 50_000;

const stems = new Map<string, string>();

/** In their order, with repetitions: the index weighs how often a word occurs. */
export function indexWords(text: string): readonly string[] {
  const words: string[] = [];
  for (const [found] of text.matchAll(WORD)) {
    if (found.length <= MOST_LENGTH * 4) addWords(found, words);
  }
  return words;
}

function addWords(found: string, words: string[]): void {
  const isPlain = ASCII.test(found);
  if (isPlain && /^(?:[a-z]+|[A-Z]?[a-z]+|\d+)$/.test(found)) {
    words.push(stemOf(found.toLowerCase()));
    return;
  }
  const text = isPlain ? found : unaccented(found);
  const unspaced = isPlain ? null : text.match(UNSPACED);
  if (unspaced !== null) {
    for (const run of unspaced) words.push(...pairsOf(run));
    const rest = text.replace(UNSPACED, " ").trim();
    for (const part of rest.split(/\s+/)) if (part !== "") addWords(part, words);
    return;
  }
  const whole = text.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
  if (whole !== "" && whole.length <= MOST_LENGTH) words.push(stemOf(whole));
  const parts = text.match(PARTS) ?? [];
  if (parts.length < 2) return;
  for (const part of parts) if (part.length > 1) words.push(stemOf(part.toLowerCase()));
}

function unaccented(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFC");
}

function pairsOf(run: string): readonly string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
}

function stemOf(word: string): string {
  let stem = stems.get(word);
  if (stem === undefined) {
    stem = porterStem(word);
    if (stems.size >= MOST_REMEMBERED) stems.clear();
    stems.set(word, stem);
  }
  return stem;
}

/** Words that say nothing about the subject of a text. */
const EMPTY: ReadonlySet<string> = new Set(
  indexWords(
    "a about after all also am an and any are as at be been before being but by can could did do does doing done for from get give go got had " +
      "has have having he her here him his how i if in into is it its just let like make may me might more most much must my no not now of off on " +
      "once one only or other our out over own please said same shall she should show so some such tell than that the their them then there these " +
      "they this those through to too under until up us use used uses using very was we well were what when where which while who why will with " +
      "would yes you your",
  ),
);

/** The words that say something, in their order, with repetitions. */
export function tellingWords(text: string): readonly string[] {
  return indexWords(text).filter((word) => !EMPTY.has(word));
}

/** For each telling word, how the text has it. */
export function wordsAsWritten(text: string): ReadonlyMap<string, string> {
  const written = new Map<string, string>();
  for (const [found] of text.matchAll(WORD))
    for (const word of tellingWords(found))
      if (!written.has(word)) written.set(word, found.search(UNSPACED) < 0 ? found.toLowerCase() : word);
  return written;
}

/** The different words of a question that are worth searching; all of them if it has no others. */
export function questionWords(text: string): readonly string[] {
  const all = [...new Set(indexWords(text))];
  const meaningful = all.filter((word) => !EMPTY.has(word));
  return meaningful.length > 0 ? meaningful : all;
}
