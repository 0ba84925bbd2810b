/**
 * Text from outside the trust boundary, as a model gets it.
 *
 * 1. The mark is in the opening and the closing tag. Text that does not know it cannot close the block.
 * 2. Nothing in the text looks like such a tag, with any mark and in any spelling: a model reads loosely.
 * 3. What is changed is changed visibly; hidden characters are shown.
 * 4. A set of Unicode properties takes milliseconds to make: none is made for a text without anything like a tag.
 * 5. Results of tools are mostly source, which a model has to quote exactly when it edits: of them only tags and control tokens are
 *    changed, and `mendCopied` brings back what was copied. Their hidden characters stay.
 * 6. Approved text has a tag of its own, which no other text can imitate. Every result pays for its tags, so theirs are short: what
 *    keeps a block closed is rule 2, not the length of the mark.
 */
import { breakControlTokens, mendControlTokens } from "./break-control-tokens.js";
import { revealHidden } from "./reveal-hidden.js";

export interface UntrustedText {
  /** Its origin: an address, a path, a server and tool. */
  readonly source: string;
  /** `web_page`, `instructions`, … */
  readonly kind: string;
  readonly text: string;
}

const MARK_BYTES = 8;
const SHORT_MARK = 3;
const MAX_SOURCE = 300;

/** Letters alone: such a word is not mistaken for a key by what hides secrets. */
export function createMark(random: (bytes: number) => Uint8Array): string {
  return [...random(MARK_BYTES)].map((byte) => LETTERS.charAt(byte >> 4) + LETTERS.charAt(byte & 15)).join("");
}

const LETTERS = "bcdfghjklmnpqrst";

export function wrapUntrusted({ source, kind, text }: UntrustedText, mark: string): string {
  return delimit({ source, kind, text: neutralize(text, mark) }, mark);
}

/** Wraps what a call brought from outside. The model knows the call of a result, so only other text has a source. */
export function wrapResult(
  text: string,
  { mark, source }: { readonly mark: string; readonly source?: string | undefined },
): string {
  const broken = breakControlTokens(breakTags(text, isTag), "result");
  const short = mark.slice(0, SHORT_MARK);
  const from = source === undefined ? "" : ` source="${attribute(source)}"`;
  return `<untrusted-${short}${from}>\n${broken}\n</untrusted-${short}>`;
}

/** Wraps a text of a file that the user approved: it is to be followed, and can neither close its block nor open another one. */
export function wrapApproved({ source, text }: Pick<UntrustedText, "source" | "text">, mark: string): string {
  const short = mark.slice(0, SHORT_MARK);
  return `<approved-${short} source="${attribute(source)}">\n${neutralize(text, mark)}\n</approved-${short}>`;
}

/** Restores text that the model copied from such a result. */
export function mendCopied(text: string): string {
  return mendControlTokens(text.replace(/‹not a tag›(?=\/?(?:untrusted|approved)-)/gi, "<"));
}

function delimit({ source, kind, text }: UntrustedText, mark: string): string {
  return `<untrusted-${mark} kind="${attribute(kind)}" source="${attribute(source)}">\n${text}\n</untrusted-${mark}>`;
}

function attribute(value: string): string {
  const line = revealHidden(value.length > MAX_SOURCE ? `${value.slice(0, MAX_SOURCE)}…` : value).replace(/\s+/g, " ");
  return line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function neutralize(text: string, mark: string): string {
  const revealed = revealHidden(text).replace(new RegExp(mark, "gi"), "‹mark›");
  return breakControlTokens(breakTags(revealed));
}

/** Matches what opens a tag, or looks as if it did, or is read as such. */
const OPENING = /[<＜﹤‹〈《«⟨❮❬❰˂ᐸ≺]|&(?:lt|#0{0,8}60|#x0{0,8}3c);?|\\(?:u003c|x3c)|%3c/gi;

/** `isMeant` looks at what stands between the opening and the end of the word, and behind it. */
type IsMeant = (text: string, from: number, to: number) => boolean;

function breakTags(text: string, isMeant: IsMeant = () => true): string {
  return text.replace(OPENING, (opening, at: number) => {
    const from = at + opening.length;
    const to = endOfWord(text, from);
    return to !== undefined && isMeant(text, from, to) ? "‹not a tag›" : opening;
  });
}

const dash = () => /\p{Default_Ignorable_Code_Point}*[\p{Pd}\u2212]/uy;
const end = () => /[\s\p{Default_Ignorable_Code_Point}]*[>＞﹥›〉》»⟩❯❭❱&\\%]/uy;
const SLASH = /[/／⁄∕\\]/;

/** `<untrusted-…` and `</approved>`, but neither `List<UntrustedText>` nor `a < untrusted`. */
const isTag: IsMeant = (text, from, to) => {
  return followsAt(to, text, dash()) || (SLASH.test(text.slice(from, to)) && followsAt(to, text, end()));
};

function followsAt(at: number, text: string, what: RegExp): boolean {
  what.lastIndex = at;
  return what.test(text);
}

const WORDS = ["untrusted", "approved"];
/** The largest number of non-letters before each letter of a word, besides invisible ones. */
const MAX_BETWEEN = 32;

/** Finds where one of the words ends that follows here, in whatever alphabet and with whatever between its letters. */
function endOfWord(text: string, from: number): number | undefined {
  let word: string | undefined;
  let matched = 0;
  let between = 0;
  for (let at = from; at < text.length && between <= MAX_BETWEEN; between++) {
    const code = text.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    // The replacement of a hidden character.
    const close = code === 0x2039 ? text.slice(at, at + 20).indexOf("›") : -1;
    if (close >= 0) at += close + 1;
    const letter = plainLetter(code);
    if (letter === "") {
      if (code > 0x7f && /\p{Default_Ignorable_Code_Point}/u.test(String.fromCodePoint(code))) between--;
      continue;
    }
    word ??= WORDS.find((each) => each.startsWith(letter));
    if (word?.startsWith(letter, matched) !== true) return undefined;
    matched += letter.length;
    if (matched >= word.length) return at;
    between = -1;
  }
  return undefined;
}

/** Letters of other alphabets that look like ours, where compatibility decomposition leaves them as they are. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  ["uυսᴜцμ", "nոпηɴ", "tтτᴛ", "rгᴦʀ", "sѕꜱ", "eеєεҽᴇ", "dԁɗᴅ", "aаαɑᴀ", "pрρᴘ", "oоοօᴏ", "vνѵᴠ"].flatMap((group) => {
    const [ours = "", ...theirs] = group;
    return theirs.map((letter) => [letter, ours]);
  }),
);

const FOLDED = new Map<number, string>();
const MAX_REMEMBERED = 4096;

/** In lower case and of our alphabet where it looks so; nothing for what is no letter. */
function plainLetter(code: number): string {
  if (code < 0x80) return /[a-z]/i.test(String.fromCharCode(code)) ? String.fromCharCode(code | 0x20) : "";
  let letter = FOLDED.get(code);
  if (letter === undefined) {
    const letters = String.fromCodePoint(code).normalize("NFKD").toLowerCase();
    // Some invisible characters count as letters.
    const visible = letters.replace(/\P{L}|\p{Default_Ignorable_Code_Point}/gu, "");
    letter = LOOK_ALIKES[visible] ?? visible;
    if (FOLDED.size >= MAX_REMEMBERED) FOLDED.clear();
    FOLDED.set(code, letter);
  }
  return letter;
}
