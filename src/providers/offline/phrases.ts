/**
 * Tables of phrases, one per line: the meaning, a bar, and a pattern for the whole request.
 *
 * 1. A pattern is a regular expression in which only named groups capture. `{NAME}` stands for the line `NAME = …` above it.
 *    `{MARK}` (one quoted text) and `{KIND_WORDS}` (words for kinds of files) are built in.
 * 2. `? PATTERN` begins a group: if it does not match, none of the lines below can match, so they are not compiled.
 * 3. Lines are tried in their order. `#` begins a comment.
 */
import { KIND_WORDS } from "./file-kinds.js";
import { MARK } from "./request-text.js";

export interface Phrase {
  /** The first word of the line. */
  readonly meaning: string;
  /** The other words before the bar; `name=value`, or `name` alone. */
  readonly traits: Readonly<Record<string, string | undefined>>;
  readonly slots: Readonly<Record<string, string | undefined>>;
  /** Where in the text it was found. */
  readonly index: number;
}

interface Line {
  readonly meaning: string;
  readonly traits: Phrase["traits"];
  readonly pattern: () => RegExp;
}

interface Group {
  readonly needs: RegExp | undefined;
  readonly lines: Line[];
}

export class PhraseBook {
  readonly #text: string;
  readonly #macros = new Map(Object.entries({ MARK, KIND_WORDS }));
  readonly #before: string;
  #groups: readonly Group[] | undefined;

  /** `ending`: only the end of the text has to match. */
  constructor(text: string, match: "whole" | "ending" = "whole") {
    this.#text = text;
    this.#before = match === "whole" ? "^" : "";
  }

  /** The phrases that match the text, one after the other. */
  *matches(text: string): Generator<Phrase> {
    this.#groups ??= this.#read();
    for (const { needs, lines } of this.#groups) {
      if (needs?.test(text) === false) continue;
      for (const { meaning, traits, pattern } of lines) {
        const match = pattern().exec(text);
        if (match !== null) yield { meaning, traits, slots: match.groups ?? {}, index: match.index };
      }
    }
  }

  #read(): readonly Group[] {
    const groups: Group[] = [{ needs: undefined, lines: [] }];
    for (const line of this.#text.split("\n")) {
      const [, name, value = ""] = /^([A-Z][A-Z_]*) = (.*)$/.exec(line) ?? [];
      if (line === "" || line.startsWith("#")) continue;
      if (name !== undefined) this.#macros.set(name, this.#expand(value));
      else if (line.startsWith("? ")) groups.push({ needs: new RegExp(this.#expand(line.slice(2)), "i"), lines: [] });
      else groups.at(-1)?.lines.push(this.#line(line));
    }
    return groups;
  }

  #line(line: string): Line {
    const bar = line.indexOf(" | ");
    const [meaning = "", ...words] = line.slice(0, bar).split(" ");
    let compiled: RegExp | undefined;
    return {
      meaning,
      traits: Object.fromEntries(words.map((word) => word.split("=")).map(([name, value = "yes"]) => [name, value])),
      pattern: () => {
        compiled ??= new RegExp(`${this.#before}(?:${this.#expand(line.slice(bar + 3))})$`, "i");
        return compiled;
      },
    };
  }

  #expand(pattern: string): string {
    const whole = pattern.replace(/\{([A-Z][A-Z_]*)\}/g, (_whole, name: string) => this.#macros.get(name) ?? "");
    // `\(` and `(?<name>` stay as they are.
    return whole.replace(/\\.|\((?!\?)/g, (found) => (found === "(" ? "(?:" : found));
  }
}
