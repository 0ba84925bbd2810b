/**
 * Ripgrep's regular expressions (the syntax of Rust's regex crate) as JavaScript ones, for the search without ripgrep.
 *
 * Known differences: flags for a part of the pattern are limited to `s`, `m` and `u` (this version of JavaScript has no local
 * `i`), and `x`, `U`, `~~` and `\b{start}` are refused. Look-around and back-references are refused because ripgrep has
 * none. Bytes that are not UTF-8 are U+FFFD here and nothing there.
 */

import { ASCII_WORD, literal, member, PatternError, POSIX, unicodeProperty, WORD } from "./regex-parts.js";

export { PatternError } from "./regex-parts.js";

/** Of character classes inside each other. */
const MOST_LEVELS = 50;

/**
 * Describes what the expression is matched against. `line`: one line without its end. `text`: a whole file, where `.` also matches
 * line ends. `lines`: a whole file, for a fast check whether any line can match; it may match too much, never too little.
 */
export type MatchUnit = "line" | "text" | "lines";

export interface PatternOptions {
  readonly unit: MatchUnit;
  readonly ignoreCase: boolean;
}

/** Throws `PatternError` with a sentence for the model. */
export function compilePattern(pattern: string, options: PatternOptions): RegExp {
  const translator = new Translator(tolerantPattern(pattern), options);
  const source = translator.translate();
  try {
    return new RegExp(source, translator.ignoreCase ? "gvi" : "gv");
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*\/[a-z]*: /s, "") : String(error);
    throw new PatternError(
      `The pattern is not a valid regular expression: ${reason}. Write \\ before each of ( ) [ ] { } that is text.`,
    );
  }
}

/**
 * Accepts forms of other dialects that some versions of ripgrep refuse: a literal brace, a needless backslash before punctuation,
 * and a named group without `P`.
 */
export function tolerantPattern(pattern: string): string {
  const token = /\\(?:[pPxuU]\{[^{}]*\}|b\{[a-z-]+\}|[\s\S])|\{\d+(?:,\d*)?\}|[{}]|\(\?<(?=\w)/g;
  return pattern.replace(token, (found, at: number) => {
    if (found === "{" || found === "}") return `\\${found}`;
    if (found === "(?<") return "(?P<";
    if (/^\\[ !"%',/:;=@_`]$/.test(found)) return found.slice(1);
    const isRepetition = at > 0 && !/(^|[^\\])[(|]$/.test(pattern.slice(0, at));
    return found.startsWith("{") && !isRepetition ? `\\${found.slice(0, -1)}\\}` : found;
  });
}

interface Flags {
  readonly dotAll: boolean;
  readonly multiLine: boolean;
  readonly unicode: boolean;
}

class Translator {
  readonly #pattern: string;
  readonly #unit: MatchUnit;
  #at = 0;
  #flags: Flags;
  ignoreCase: boolean;

  constructor(pattern: string, { unit, ignoreCase }: PatternOptions) {
    this.#pattern = pattern;
    this.#unit = unit;
    this.#flags = { dotAll: unit === "text", multiLine: true, unicode: true };
    this.ignoreCase = ignoreCase;
  }

  translate(): string {
    const leading = /^\(\?([a-zA-Z]+)\)/.exec(this.#pattern);
    if (leading?.[1]?.includes("i") === true) {
      this.ignoreCase = true;
      this.#at = leading[0].length;
      this.#setFlags(leading[1].replace("i", ""));
    }
    let out = "";
    const outer: Flags[] = [];
    while (this.#at < this.#pattern.length) {
      const char = this.#peek();
      if (char === "(") {
        const opening = this.#group(outer);
        out += opening;
      } else if (char === ")") {
        this.#flags = outer.pop() ?? this.#flags;
        this.#at++;
        out += ")";
      } else {
        out += this.#atom(char);
      }
    }
    return out;
  }

  #peek(): string {
    return String.fromCodePoint(this.#pattern.codePointAt(this.#at) as number);
  }

  #take(text: string): string {
    this.#at += text.length;
    return text;
  }

  #group(outer: Flags[]): string {
    const rest = this.#pattern.slice(this.#at);
    if (/^\(\?(<?[=!])/.test(rest)) {
      throw new PatternError(
        "Look-around, (?=…) (?!…) (?<=…) (?<!…), is not supported. Search for more and read the results.",
      );
    }
    const named = /^\(\?P?<([^>]*)>/.exec(rest);
    if (named !== null) {
      outer.push(this.#flags);
      this.#take(named[0]);
      return "(?:";
    }
    const flagged = /^\(\?([a-zA-Z-]*)([:)])/.exec(rest);
    if (flagged !== null) {
      this.#take(flagged[0]);
      // `(?s)` applies until the end of its group; `(?s:…)` to its own group.
      if (flagged[2] === ":") outer.push(this.#flags);
      this.#setFlags(flagged[1] ?? "");
      return flagged[2] === ":" ? "(?:" : "";
    }
    if (rest.startsWith("(?")) throw new PatternError(`"${rest.slice(0, 4)}" is not supported in a pattern.`);
    outer.push(this.#flags);
    this.#take("(");
    return "(?:";
  }

  #setFlags(flags: string): void {
    let on = true;
    for (const flag of flags) {
      if (flag === "-") on = false;
      else if (flag === "s") this.#flags = { ...this.#flags, dotAll: on };
      else if (flag === "m") this.#flags = { ...this.#flags, multiLine: on };
      else if (flag === "u") this.#flags = { ...this.#flags, unicode: on };
      else
        throw new PatternError(`The flag "${flag}" is not supported here. Use ignore_case, or (?i) at the very start.`);
    }
  }

  #atom(char: string): string {
    switch (char) {
      case "\\":
        return this.#escape("outside");
      case "[":
        return this.#characterClass();
      case ".":
        this.#take(char);
        return this.#flags.dotAll ? "[\\s\\S]" : "[^\\n]";
      case "^":
        this.#take(char);
        return this.#flags.multiLine && this.#unit !== "line" ? "(?<![^\\n])" : "^";
      case "$":
        this.#take(char);
        return this.#flags.multiLine && this.#unit !== "line" ? "(?=\\r?\\n|(?![\\s\\S]))" : "$";
      case "{":
        // Only repetitions are left: other braces were escaped before.
        return this.#take(/^\{[^}]*\}/.exec(this.#pattern.slice(this.#at))?.[0] ?? "{");
      case "*":
      case "+":
      case "?":
      case "|":
        return this.#take(char);
      case "\n":
        this.#refuseLineEnd();
        return this.#take(char);
      default:
        return literal(this.#take(char));
    }
  }

  #refuseLineEnd(): void {
    if (this.#unit === "text") return;
    throw new PatternError("The pattern contains a line end. Set multiline to true to search across lines.");
  }

  #escape(place: "outside" | "class"): string {
    const rest = this.#pattern.slice(this.#at);
    const code = /^\\(?:[xuU]\{([\dA-Fa-f]+)\}|x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8}))/.exec(rest);
    if (code !== null) {
      this.#take(code[0]);
      return `\\u{${code.slice(1).find((digits) => digits !== undefined)}}`;
    }
    const property = /^\\([pP])(?:\{(\^?)([^}]*)\}|([A-Za-z]))/.exec(rest);
    if (property !== null) {
      this.#take(property[0]);
      const negated = (property[1] === "P") !== (property[2] === "^");
      return unicodeProperty(property[3] ?? property[4] ?? "", negated);
    }
    const boundary = /^\\(b\{[a-z-]*\}|[bB<>])/.exec(rest);
    if (boundary !== null && place === "outside") return this.#boundary(this.#take(boundary[0]));
    return this.#simpleEscape(rest, place);
  }

  #simpleEscape(rest: string, place: "outside" | "class"): string {
    const char = rest[1];
    if (char === undefined)
      throw new PatternError('The pattern ends in a single "\\". Write "\\\\" for the character itself.');
    this.#take(`\\${char}`);
    if (/[dwsDWS]/.test(char)) return this.#shorthand(char);
    if (char === "n" && place === "outside") this.#refuseLineEnd();
    if (/[nrtfv]/.test(char)) return `\\${char}`;
    if (char === "a") return "\\x07";
    if (place === "outside" && char === "A") return this.#unit === "text" ? "(?<![\\s\\S])" : "(?<![^\\n])";
    if (place === "outside" && char === "z") return this.#unit === "text" ? "(?![\\s\\S])" : "(?=\\r?\\n|(?![\\s\\S]))";
    if (/[0-9]/.test(char)) throw new PatternError(`Back-references (\\${char}) are not supported.`);
    if (/[A-Za-z]/.test(char)) throw new PatternError(`"\\${char}" is not a known escape in a pattern.`);
    return place === "class" ? member(char) : literal(char);
  }

  #shorthand(char: string): string {
    const { unicode } = this.#flags;
    const members = {
      d: unicode ? "\\p{Nd}" : "0-9",
      w: this.#word,
      s: unicode ? "\\p{White_Space}" : "\\t\\n\\v\\f\\r ",
    };
    const kind = char.toLowerCase() as keyof typeof members;
    return char === kind ? `[${members[kind]}]` : `[^${members[kind]}]`;
  }

  get #word(): string {
    return this.#flags.unicode ? WORD : ASCII_WORD;
  }

  #boundary(kind: string): string {
    const word = `[${this.#word}]`;
    if (kind === "\\b") return `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
    if (kind === "\\B") return `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`;
    if (kind === "\\<") return `(?:(?<!${word})(?=${word}))`;
    if (kind === "\\>") return `(?:(?<=${word})(?!${word}))`;
    throw new PatternError(`"${kind}" is not supported; use \\b.`);
  }

  /** Members between the operators `&&` and `--` become nested classes, which is the one form JavaScript knows for them. */
  #characterClass(level = 1): string {
    if (level > MOST_LEVELS)
      throw new PatternError(`At most ${MOST_LEVELS} character classes may be inside each other.`);
    this.#take("[");
    const negated = this.#pattern[this.#at] === "^";
    if (negated) this.#take("^");
    let out = "";
    let members = "";
    for (let first = true; ; first = false) {
      if (this.#at >= this.#pattern.length) throw new PatternError('A "[" in the pattern is not closed by "]".');
      const operator = /^(&&|--|~~)/.exec(this.#pattern.slice(this.#at))?.[0];
      if (operator === "~~") throw new PatternError('"~~" in a character class is not supported.');
      if (operator !== undefined && !first) {
        out += `[${members}]${this.#take(operator)}`;
        members = "";
      } else if (this.#pattern[this.#at] === "]" && !first) {
        this.#take("]");
        return `[${negated ? "^" : ""}${out}${out === "" ? members : `[${members}]`}]`;
      } else {
        members += this.#member(level);
      }
    }
  }

  #member(level: number): string {
    const rest = this.#pattern.slice(this.#at);
    const posix = /^\[:(\^?)([a-z]+):\]/.exec(rest);
    if (posix !== null) {
      const known = POSIX[posix[2] ?? ""];
      if (known === undefined) throw new PatternError(`[:${posix[2]}:] is not a known character class.`);
      this.#take(posix[0]);
      return posix[1] === "^" ? `[^${known}]` : known;
    }
    if (rest.startsWith("[")) return this.#characterClass(level + 1);
    const low = this.#classCharacter();
    const isRange = this.#pattern[this.#at] === "-" && !/^-(\]|-|$)/.test(this.#pattern.slice(this.#at));
    if (!isRange || low.startsWith("[") || low.startsWith("\\p")) return low;
    this.#take("-");
    return `${low}-${this.#classCharacter()}`;
  }

  #classCharacter(): string {
    const char = this.#peek();
    return char === "\\" ? this.#escape("class") : member(this.#take(char));
  }
}
