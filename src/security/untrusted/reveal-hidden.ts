/**
 * Shows characters that a user does not see and a model reads, as ‹U+202E›.
 *
 * 1. Idempotent: what is written in their place holds none of them. Linear in the length of the text.
 * 2. Characters that scripts need stay: joiners inside Arabic and Indic words and in emoji, variation selectors after what they vary.
 * 3. A set of Unicode properties takes milliseconds to make: none is made before there is a text that is not plain.
 * 4. Of a long run only the beginning is spelled out, so that hidden text cannot blow up what is shown.
 */

/** Default-ignorable code points, controls but tab and line ends, a blank that is no space, halves of surrogate pairs. */
const hiddenRuns = () =>
  /(?:\p{Default_Ignorable_Code_Point}|[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\u2028\u2029\u2800\ufff9-\ufffc]|\r(?!\n)|\p{Surrogate})+/gu;
/** More marks on one letter than any script puts there: they cover the lines around. */
const stackedMarks = () => /(?<=\p{M}{8})\p{M}+/gu;
const PLAIN = /^[\t\n -~]*$/;

const MAX_SPELLED = 8;

export function revealHidden(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(hiddenRuns(), (run: string, at: number) => revealRun(run, text, at))
    .replace(stackedMarks(), (run) => spell([...run]));
}

function revealRun(run: string, text: string, at: number): string {
  const characters = [...run];
  const next = characterAt(text, at + run.length);
  let previous = characterBefore(text, at);
  let out = "";
  let hidden: string[] = [];
  for (let index = 0; index < characters.length; index++) {
    const rest = characters.slice(index, index + FLAG_TAGS);
    const kept = keptHere(previous, rest, next);
    if (kept === 0) {
      hidden.push(rest[0] ?? "");
      previous = "";
      continue;
    }
    out += spell(hidden) + rest.slice(0, kept).join("");
    hidden = [];
    // An emoji with its selector may still be joined to another.
    previous = isEmojiSelector(rest[0]) ? previous + rest[0] : "";
    index += kept - 1;
  }
  return out + spell(hidden);
}

/** Counts how many of the next characters belong to the writing around them; `next` is what follows the whole run. */
function keptHere(previous: string, [character = "", second, ...more]: readonly string[], next: string): number {
  const follows = second ?? next;
  if (character === ZWJ && isPictograph(previous) && isPictograph(follows)) return 1;
  if (character === ZWJ || character === ZWNJ) return isJoining(previous) && isJoining(follows) ? 1 : 0;
  if (character === ZWSP) return isSpaceless(previous) && isSpaceless(follows) ? 1 : 0;
  if (isEmojiSelector(character))
    return /^\p{Extended_Pictographic}$/u.test(previous) || (KEYCAP.test(previous) && follows === "\u20e3") ? 1 : 0;
  if (/[\ufe00-\ufe02]/u.test(character)) return /[\p{Script=Han}\p{Sm}\p{Script=Myanmar}]/u.test(previous) ? 1 : 0;
  if (/[\u{e0100}-\u{e01ef}]/u.test(character)) return /\p{Script=Han}/u.test(previous) ? 1 : 0;
  if (/[\u180b-\u180d\u180f]/u.test(character)) return /\p{Script=Mongolian}/u.test(previous) ? 1 : 0;
  if (previous !== BLACK_FLAG || second === undefined) return 0;
  return FLAGS.has([character, second, ...more].join("")) ? FLAG_TAGS : 0;
}

const ZWSP = "\u200b";
const ZWNJ = "\u200c";
const ZWJ = "\u200d";
const BLACK_FLAG = "\u{1f3f4}";
const FLAG_TAGS = 6;
/** England, Scotland and Wales: the only flags that are written with tag characters. */
const FLAGS = new Set(
  ["gbeng", "gbsct", "gbwls"].map(
    (name) => `${[...name].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")}\u{e007f}`,
  ),
);
const isPictograph = (text: string) => /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u.test(text);
const KEYCAP = /^[0-9#*]$/;
const isSpaceless = (text: string) => /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(text);
const JOINING_SCRIPTS =
  "Arabic Syriac Nko Mongolian Adlam Hanifi_Rohingya Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada " +
  "Malayalam Sinhala Khmer Myanmar Balinese Javanese";
let joining: RegExp | undefined;

function isJoining(text: string): boolean {
  if (joining === undefined) {
    const scripts = JOINING_SCRIPTS.split(" ").map((script) => `\\p{Script_Extensions=${script}}`);
    joining = new RegExp(`[${scripts.join("")}]`, "u");
  }
  return joining.test(text);
}

function isEmojiSelector(character: string | undefined): boolean {
  return character === "\ufe0f" || character === "\ufe0e";
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

function characterBefore(text: string, at: number): string {
  const before = characterAt(text, at - 2);
  return at >= 2 && before.length === 2 ? before : text.charAt(at - 1);
}

function spell(characters: readonly string[]): string {
  const spelled = characters
    .slice(0, MAX_SPELLED)
    .map((character) => `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`);
  const rest = characters.length - spelled.length;
  return spelled.join("") + (rest > 0 ? `‹${rest} more hidden›` : "");
}
