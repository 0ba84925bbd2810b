/** The pieces that Rust's and JavaScript's regular expressions spell differently. */

/** A pattern that cannot be used; the message is for the model. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PatternError";
  }
}

/** Members of `\w`. */
export const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
export const ASCII_WORD = "0-9A-Za-z_";

export const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: ASCII_WORD,
  xdigit: "0-9A-Fa-f",
};

export function literal(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

/** In a class of the `v` mode much punctuation has, or may get, a meaning; code points are always literal. */
export function member(char: string): string {
  return /[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/.test(char) ? `\\u{${char.charCodeAt(0).toString(16)}}` : char;
}

/** Rust accepts names of categories, scripts and properties, in loose spelling. */
export function unicodeProperty(name: string, negated: boolean): string {
  const wanted = name.replace(/^(script|sc|general_category|gc)[=:]/i, "");
  const capital = wanted.replace(/[A-Za-z]+/g, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase());
  for (const each of [name, wanted, capital]) {
    for (const form of [each, `Script=${each}`]) {
      const source = `\\${negated ? "P" : "p"}{${form}}`;
      if (isValid(source)) return source;
    }
  }
  throw new PatternError(`\\p{${name}} is not a known Unicode property.`);
}

function isValid(source: string): boolean {
  try {
    return new RegExp(source, "v") !== undefined;
  } catch {
    return false;
  }
}
