/**
 * Glob patterns as ignore files and people write them.
 *
 * 1. `*` and `?` stay within one name; `**` as a whole name spans folders; `[a-z]`, `[!a]`, `{a,b}` and `\x` work.
 * 2. A malformed pattern gives undefined; it never matches by accident. So does one with alternatives deep inside each other: the files of a project
 *    hold patterns that their authors chose, and the stack has an end.
 */
import {
  ANY,
  FOLDERS,
  IN_NAME,
  ONE_IN_NAME,
  type PatternPart,
  starPattern,
  type TextPattern,
} from "../../base/star-pattern.js";

const MOST_LEVELS = 50;

/** Tests whole paths with forward slashes; undefined when the pattern is not well formed. */
export function globMatcher(pattern: string): TextPattern | undefined {
  const scanner = new GlobScanner(pattern);
  const parts = scanner.sequence("top");
  return parts === undefined || !scanner.atEnd ? undefined : starPattern(parts);
}

class GlobScanner {
  readonly #pattern: string;
  #at = 0;
  #level = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get atEnd(): boolean {
    return this.#at >= this.#pattern.length;
  }

  /** Until the end, or until the `,` or `}` that ends a branch of an alternative. */
  sequence(place: "top" | "branch"): readonly PatternPart[] | undefined {
    const out: PatternPart[] = [];
    while (!this.atEnd) {
      const char = this.#pattern[this.#at] as string;
      if (place === "branch" && (char === "," || char === "}")) break;
      const part = this.#part(char);
      if (part === undefined) return undefined;
      out.push(part);
    }
    return out;
  }

  #part(char: string): PatternPart | undefined {
    switch (char) {
      case "*":
        return this.#stars();
      case "?":
        this.#at++;
        return ONE_IN_NAME;
      case "[":
        return this.#characterClass();
      case "{":
        return this.#alternatives();
      case "}":
        return undefined;
      case "\\":
        this.#at++;
        return this.atEnd ? undefined : this.#literal();
      case "/":
        return this.#slash();
      default:
        return this.#literal();
    }
  }

  #literal(): string {
    const char = String.fromCodePoint(this.#pattern.codePointAt(this.#at) as number);
    this.#at += char.length;
    return char;
  }

  #stars(): PatternPart {
    const start = this.#at;
    while (this.#pattern[this.#at] === "*") this.#at++;
    const before = this.#pattern[start - 1] ?? "/";
    const beginsName = before === "/" || (this.#level > 0 && /[{,]/.test(before));
    if (this.#at - start !== 2 || !beginsName) return IN_NAME;
    if (this.#endsPart(this.#at)) return ANY;
    if (this.#pattern[this.#at] !== "/") return IN_NAME;
    this.#at++;
    return FOLDERS;
  }

  #slash(): PatternPart {
    this.#at++;
    // `a/**` is what is below `a`, not `a` itself.
    if (this.#pattern.startsWith("**", this.#at) && this.#endsPart(this.#at + 2)) {
      this.#at += 2;
      return [["/", ANY]];
    }
    return "/";
  }

  /** The end of the pattern or of a branch. */
  #endsPart(at: number): boolean {
    const next = this.#pattern[at];
    return next === undefined || (this.#level > 0 && /[,}]/.test(next));
  }

  #alternatives(): PatternPart | undefined {
    this.#at++;
    if (++this.#level > MOST_LEVELS) return undefined;
    const branches: (readonly PatternPart[])[] = [];
    for (;;) {
      const branch = this.sequence("branch");
      if (branch === undefined || this.atEnd) return undefined;
      branches.push(branch);
      if (this.#pattern[this.#at++] === "}") break;
    }
    this.#level--;
    return branches;
  }

  #characterClass(): PatternPart | undefined {
    const negated = /[!^]/.test(this.#pattern[this.#at + 1] ?? "");
    let at = this.#at + (negated ? 2 : 1);
    const first = at;
    const ranges: (readonly [string, string])[] = [];
    while (at < this.#pattern.length && (this.#pattern[at] !== "]" || at === first)) {
      if (this.#pattern[at] === "\\" && at + 1 < this.#pattern.length) at++;
      const low = String.fromCodePoint(this.#pattern.codePointAt(at) as number);
      at += low.length;
      const isRange = this.#pattern[at] === "-" && at + 1 < this.#pattern.length && this.#pattern[at + 1] !== "]";
      if (!isRange) {
        ranges.push([low, low]);
        continue;
      }
      const high = String.fromCodePoint(this.#pattern.codePointAt(at + 1) as number);
      if ((high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0)) return undefined;
      at += 1 + high.length;
      ranges.push([low, high]);
    }
    if (at >= this.#pattern.length) return undefined;
    this.#at = at + 1;
    return { negated, ranges };
  }
}
