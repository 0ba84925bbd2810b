/**
 * Text from outside the trust boundary, as a model gets it (feature P12).
 *
 * 1. The mark is random for each session and stands in the opening and the closing tag. Who does not know it cannot close the block.
 * 2. Nothing in the text looks like such a tag either, with whatever mark and in whatever spelling: a model reads loosely.
 * 3. What is changed is changed visibly; hidden characters are shown.
 */
import { breakControlTokens } from "./break-control-tokens.js";
import { revealHidden } from "./reveal-hidden.js";

export interface UntrustedText {
  /** Where it came from: an address, a path, a server and tool. */
  readonly source: string;
  /** `web_page`, `tool_result`, `instructions`, … */
  readonly kind: string;
  readonly text: string;
}

const MARK_BYTES = 8;
const MAX_SOURCE = 300;

/** Letters alone: such a word is not mistaken for a key by what hides secrets. */
export function createMark(random: (bytes: number) => Uint8Array): string {
  return [...random(MARK_BYTES)].map((byte) => LETTERS.charAt(byte >> 4) + LETTERS.charAt(byte & 15)).join("");
}

const LETTERS = "bcdfghjklmnpqrst";

export function wrapUntrusted({ source, kind, text }: UntrustedText, mark: string): string {
  const from = attribute(source);
  return `<untrusted-${mark} kind="${attribute(kind)}" source="${from}">\n${neutralize(text, mark)}\n</untrusted-${mark}>`;
}

function attribute(value: string): string {
  const line = revealHidden(value.length > MAX_SOURCE ? `${value.slice(0, MAX_SOURCE)}…` : value).replace(/\s+/g, " ");
  return line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function neutralize(text: string, mark: string): string {
  const revealed = revealHidden(text).replace(new RegExp(mark, "gi"), "‹mark›");
  return breakControlTokens(breakTags(revealed));
}

/** What opens a tag, or looks as if it did, or is read as such. */
const OPENING = /[<＜﹤‹〈《«⟨❮❬❰˂ᐸ≺]|&(?:lt|#0{0,8}60|#x0{0,8}3c);?|\\(?:u003c|x3c)|%3c/gi;

function breakTags(text: string): string {
  return text.replace(OPENING, (opening, at: number) =>
    spellsUntrusted(text, at + opening.length) ? "‹not a tag›" : opening,
  );
}

const WORD = "untrusted";
/** So many characters that are no letters may stand before each letter of the word. */
const MAX_BETWEEN = 32;

/** Whether the word follows, in whatever alphabet and with whatever between its letters. */
function spellsUntrusted(text: string, from: number): boolean {
  let matched = 0;
  let between = 0;
  for (let at = from; at < text.length && between <= MAX_BETWEEN; between++) {
    const code = text.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    // What was put in the place of a hidden character.
    const close = code === 0x2039 ? text.slice(at, at + 20).indexOf("›") : -1;
    if (close >= 0) at += close + 1;
    const letter = plainLetter(code);
    if (letter === "") continue;
    if (!WORD.startsWith(letter, matched)) return false;
    matched += letter.length;
    if (matched >= WORD.length) return true;
    between = -1;
  }
  return false;
}

/** Letters of other alphabets that look like ours, where compatibility decomposition leaves them as they are. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  ["uυսᴜцμ", "nոпηɴ", "tтτᴛ", "rгᴦʀ", "sѕꜱ", "eеєεҽᴇ", "dԁɗᴅ"].flatMap((group) => {
    const [ours = "", ...theirs] = group;
    return theirs.map((letter) => [letter, ours]);
  }),
);

const FOLDED = new Map<number, string>();
const MAX_REMEMBERED = 4096;

/** In lower case and of our alphabet where it looks so; nothing for what is no letter. */
function plainLetter(code: number): string {
  let letter = FOLDED.get(code);
  if (letter === undefined) {
    const letters = String.fromCodePoint(code).normalize("NFKD").toLowerCase().replace(/\P{L}/gu, "");
    letter = LOOK_ALIKES[letters] ?? letters;
    if (FOLDED.size >= MAX_REMEMBERED) FOLDED.clear();
    FOLDED.set(code, letter);
  }
  return letter;
}
