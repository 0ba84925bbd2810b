/**
 * Estimates the tokens of a text without a vocabulary. It cuts the text where the common tokenizers do (words with the blank before
 * them, three digits, runs of punctuation and of white space) and counts each piece by its script and length. The rates are between
 * those of OpenAI's o200k and cl100k. docs/design/costs.md has the measured error; a provider's own count is better.
 */

const PIECE =
  /'(?:s|t|m|d|re|ve|ll)\b|(?:[^\S\r\n]|(?<![!-/:-@[-`{-~])[/._(-])?(?:[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*)|\d{1,3}|[^\S\r\n]?[!-/:-@[-`{-~]+[\r\n]*|[\r\n]+|[^\S\r\n]+(?=[^\S\r\n])|[^\S\r\n]|[^\0-\x7f]+|[\s\S]/g;

/** Words up to this length are usually one token; the rest comes in pieces. */
const WHOLE_WORD = 9;
const WORD_PIECE = 5;
const PUNCTUATION_PIECE = 3;
const CONTRACTION = 0.3;
const APOSTROPHE = 39;
/** Indentation is one token up to this width. */
const WHITE_PIECE = 100;

/** Tokens of a character, by script; the first match counts. Strings, because such patterns take a millisecond to compile. */
const RATES: readonly (readonly [pattern: string, tokens: number])[] = [
  ["\\p{M}", 0.9],
  ["\\p{Script=Cyrillic}|\\p{Script=Greek}", 0.4],
  ["\\p{Script=Latin}", 0.55],
  ["\\p{Script=Arabic}|\\p{Script=Hebrew}", 0.45],
  ["\\p{Script=Han}", 0.85],
  ["\\p{Script=Hiragana}|\\p{Script=Katakana}", 0.8],
  ["\\p{Script=Hangul}", 0.65],
  ["\\p{Script=Thai}|\\p{Script=Devanagari}|\\p{Script=Bengali}|\\p{Script=Tamil}", 0.65],
  ["\\p{L}", 1],
  ["\\p{Emoji_Presentation}|\\p{Extended_Pictographic}|\\p{Regional_Indicator}", 2.3],
  ["[\\u2010-\\u2027\\u3000-\\u303f\\uff00-\\uffef\\u00a0-\\u00bf]", 0.8],
];
const OTHER = 1.2;

/** A longer text is estimated from samples, so that no other client waits for it. */
const LONGEST_WHOLE = 65_536;
const SAMPLES = 16;
const SAMPLE = LONGEST_WHOLE / SAMPLES;

export function estimateTokens(text: string): number {
  const tokens = text.length > LONGEST_WHOLE ? weighSamples(text) : weighPieces(text);
  return Math.max(0, Math.ceil(tokens - 1e-9));
}

/** Samples stand at equal distances, the first at the beginning and the last at the end. */
function weighSamples(text: string): number {
  const step = (text.length - SAMPLE) / (SAMPLES - 1);
  let tokens = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = Math.floor(sample * step);
    tokens += weighPieces(text.slice(from, from + SAMPLE));
  }
  return (tokens / LONGEST_WHOLE) * text.length;
}

function weighPieces(text: string): number {
  let tokens = 0;
  for (const piece of text.match(PIECE) ?? []) tokens += weigh(piece);
  return tokens;
}

function weigh(piece: string): number {
  const first = piece.charCodeAt(0);
  if (first > 0x7f) return weighForeign(piece);
  // The text after a contraction's apostrophe belongs to the word before.
  if (first === APOSTROPHE && piece.length > 1 && isLetter(piece.charCodeAt(1))) return CONTRACTION;
  const bare = piece.trim();
  if (isLetter(bare.charCodeAt(bare.length - 1))) {
    const letters = isLetter(bare.charCodeAt(0)) ? bare.length : bare.length - 1;
    return letters <= WHOLE_WORD ? 1 : 1 + Math.ceil((letters - WHOLE_WORD) / WORD_PIECE);
  }
  if (bare === "") return Math.ceil(piece.length / WHITE_PIECE);
  if (isDigit(bare.charCodeAt(0))) return 1;
  return isOneCharacter(bare) ? Math.ceil(bare.length / 16) : Math.ceil(bare.length / PUNCTUATION_PIECE);
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isOneCharacter(text: string): boolean {
  return text === text.charAt(0).repeat(text.length);
}

let scripts: readonly (readonly [pattern: RegExp, tokens: number])[] | undefined;

function weighForeign(text: string): number {
  scripts ??= RATES.map(([pattern, tokens]) => [new RegExp(pattern, "u"), tokens]);
  let tokens = 0;
  for (const character of text) {
    tokens += scripts.find(([pattern]) => pattern.test(character))?.[1] ?? OTHER;
  }
  return Math.max(1, tokens);
}
