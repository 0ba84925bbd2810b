/**
 * Makes text from models, tools, files and the network harmless for a terminal.
 *
 * 1. The result contains no control character except tab and newline.
 * 2. Nothing is hidden: characters that could have an invisible effect (escape strings, direction marks, zero-width and tag
 *    characters) are shown. Only colour and cursor sequences are dropped, because they contain no text. Carriage returns become
 *    newlines, so that nothing can overwrite text.
 * 3. The result does not depend on how a stream is split into chunks.
 */

/** Plain text, the common case, needs no further check. */
const NOT_PLAIN = /[^\t\n\x20-\x7e]/;

const CSI = "(?:\\x1b\\[|\\x9b)[0-?]{0,32}[ -/]{0,2}[@-~]";
/** Character set choice and keypad mode: `tput sgr0` writes one with every colour reset. */
const SHORT_ESCAPE = "\\x1b(?:[()*+][0-9A-Z]|[=>])";
const TAGS = "[\\u{e0000}-\\u{e007f}]+";
const SUSPECT =
  "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u115f\\u1160\\u3164\\uffa0\\u2028\\u2029\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}\\p{Cf}\\p{Cs}]";

/** Format characters that are visible. */
const SHAPED = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;
const EMOJI = "\\p{Extended_Pictographic}|\\p{Emoji_Modifier}|\\ufe0f";
const VARIABLE = "[\\p{Emoji}\\p{sc=Han}\\p{sc=Mongolian}\\p{Sm}]";
/** Scripts that join and split letters with U+200C and U+200D. */
const JOINING_SCRIPTS =
  "Arabic Syriac Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Tibetan";

/** Compiled from strings when a text is not plain: a literal with Unicode properties would cost every start a millisecond. */
function makePatterns() {
  const scripts = JOINING_SCRIPTS.split(" ").map((script) => `\\p{sc=${script}}`);
  return {
    suspects: new RegExp(SUSPECT, "u"),
    pieces: new RegExp(`${CSI}|${SHORT_ESCAPE}|\\r\\n?|${TAGS}|${SUSPECT}`, "gu"),
    emoji: new RegExp(EMOJI, "u"),
    joining: new RegExp(`[${scripts.join("")}]`, "u"),
    variable: new RegExp(VARIABLE, "u"),
  };
}

let made: ReturnType<typeof makePatterns> | undefined;

function patterns() {
  made ??= makePatterns();
  return made;
}

/** Flags of England, Scotland and Wales: the only tag sequences in use. */
const FLAG_TAGS = new Set(["gbeng", "gbsct", "gbwls"]);

export function safeText(text: string): string {
  return isSafe(text) ? text : sanitize(text, "");
}

/** For a place with one line: names, titles, table cells. */
export function safeLine(text: string): string {
  return safeText(text).replaceAll("\n", "␊").replaceAll("\t", "␉");
}

/** The same for text that arrives in pieces. `end` returns the held rest. */
export class SafeTextStream {
  #held = "";
  #before = "";

  push(chunk: string): string {
    const text = this.#held + chunk;
    const at = holdFrom(text);
    this.#held = text.slice(at);
    return this.#emit(text.slice(0, at));
  }

  end(): string {
    const rest = this.#held;
    this.#held = "";
    return this.#emit(rest);
  }

  #emit(text: string): string {
    if (text === "") return "";
    const before = this.#before;
    this.#before = codePointBefore(text, text.length);
    return isSafe(text) ? text : sanitize(text, before);
  }
}

/** An unfinished sequence at the end of a chunk, or a character that depends on the next one. */
const UNFINISHED =
  /(?:\x1b(?:\[[0-?]{0,32}[ -/]{0,2}|[()*+])?|\x9b[0-?]{0,32}[ -/]{0,2}|\r|[\u200c\u200d][\ud800-\udbff]?|(?:\udb40[\udc00-\udc7f])+[\ud800-\udbff]?|[\ud800-\udbff])$/;
const MAX_HELD = 256;

function holdFrom(text: string): number {
  // The pattern cannot match further back than this, so a long chunk costs no more than a short one.
  const tail = text.slice(-MAX_HELD);
  const found = UNFINISHED.exec(tail);
  return found === null ? text.length : text.length - tail.length + found.index;
}

function isSafe(text: string): boolean {
  return !NOT_PLAIN.test(text) || !patterns().suspects.test(text);
}

function sanitize(text: string, before: string): string {
  return text.replace(patterns().pieces, (piece, offset: number) => {
    const previous = offset === 0 ? before : codePointBefore(text, offset);
    const next = text.codePointAt(offset + piece.length);
    return render(piece, previous, next === undefined ? "" : String.fromCodePoint(next));
  });
}

function render(piece: string, before: string, after: string): string {
  const code = piece.codePointAt(0) as number;
  if (code === 0x0d) return "\n";
  if (code === 0x1b) return piece.length > 1 ? "" : "␛";
  if (code === 0x9b && piece.length > 1) return "";
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  if (code >= 0xe0000 && code <= 0xe007f) return renderTags(piece, before);
  if (belongs(piece, { code, before, after })) return piece;
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

function belongs(char: string, { code, before, after }: { code: number; before: string; after: string }): boolean {
  if (code === 0x200c || code === 0x200d) {
    const { emoji, joining } = patterns();
    const inEmoji = code === 0x200d && emoji.test(before) && emoji.test(after);
    return inEmoji || (joining.test(before) && joining.test(after));
  }
  const isVariation = (code >= 0xfe00 && code <= 0xfe0f) || code >= 0xe0100;
  return isVariation ? patterns().variable.test(before) : SHAPED.test(char);
}

function renderTags(piece: string, before: string): string {
  const hidden = Array.from(piece, (char) => {
    const code = (char.codePointAt(0) as number) - 0xe0000;
    return code >= 0x20 && code < 0x7f ? String.fromCodePoint(code) : "";
  }).join("");
  const isFlag = before === "\u{1f3f4}" && piece.endsWith("\u{e007f}") && FLAG_TAGS.has(hidden);
  return isFlag ? piece : `<tags:${hidden}>`;
}

function codePointBefore(text: string, offset: number): string {
  const low = text.charCodeAt(offset - 1);
  const paired = low >= 0xdc00 && low <= 0xdfff && offset > 1;
  return text.slice(offset - (paired ? 2 : 1), offset);
}
