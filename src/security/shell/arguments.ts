/** The words after a program's name, sorted into options and operands by its table. */
import type { ProgramRules } from "./programs/rules.js";
import type { Word } from "./syntax.js";
import { fixedValue, globValue, startsWithGlob } from "./word-values.js";

export interface Option {
  readonly name: string;
  readonly value: string | undefined;
}

export interface Operand {
  readonly word: Word;
  /** Globs are literal in it. */
  readonly value: string;
}

export interface Arguments {
  readonly options: readonly Option[];
  readonly operands: readonly Operand[];
}

/** Options by name, made from the strings of a table once. */
interface OptionSets {
  readonly flags: ReadonlySet<string>;
  readonly valued: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
  readonly optional: ReadonlySet<string>;
  readonly patterns: ReadonlySet<string>;
  readonly required: ReadonlySet<string>;
}

const SETS = new WeakMap<ProgramRules, OptionSets>();

export function optionSets(rules: ProgramRules): OptionSets {
  let sets = SETS.get(rules);
  if (sets === undefined) {
    const words = (list = "") => new Set(list.split(" ").filter((word) => word !== ""));
    sets = {
      flags: words(rules.flags),
      valued: words(rules.valued),
      files: words(rules.files),
      optional: words(rules.optional),
      patterns: words(rules.patterns),
      required: words(rules.required),
    };
    SETS.set(rules, sets);
  }
  return sets;
}

/** The arguments, or why they are not among what the table allows. */
export function readArguments(words: readonly Word[], rules: ProgramRules): Arguments | string {
  const reader = new ArgumentReader(words, rules);
  return reader.read();
}

class ArgumentReader {
  readonly #words: readonly Word[];
  readonly #rules: ProgramRules;
  readonly #sets: OptionSets;
  readonly #options: Option[] = [];
  readonly #operands: Operand[] = [];
  #next = 0;

  constructor(words: readonly Word[], rules: ProgramRules) {
    this.#words = words;
    this.#rules = rules;
    this.#sets = optionSets(rules);
  }

  read(): Arguments | string {
    let dashes = false;
    for (let word = this.#take(); word !== undefined; word = this.#take()) {
      const value = globValue(word);
      if (value === undefined) return unknownWord(word);
      const fixed = fixedValue(word) !== undefined;
      if (fixed && value === "--" && !dashes) {
        dashes = true;
        continue;
      }
      if (value.startsWith("-") && value.length > 1) {
        if (!fixed) return `the option ${word.text} is not known beforehand`;
        if (!dashes) {
          const problem = value.startsWith("--") ? this.#long(value) : this.#short(value);
          if (problem !== undefined) return problem;
          continue;
        }
        if (!this.#rules.dashes) return `the operand ${word.text} looks like an option`;
      }
      if (startsWithGlob(word) && !this.#rules.globs) return `files that ${word.text} finds may look like options`;
      this.#operands.push({ word, value });
    }
    return { options: this.#options, operands: this.#operands };
  }

  #take(): Word | undefined {
    this.#next += 1;
    return this.#words[this.#next - 1];
  }

  #long(text: string): string | undefined {
    const equals = text.indexOf("=");
    const name = equals < 0 ? text : text.slice(0, equals);
    const value = equals < 0 ? undefined : text.slice(equals + 1);
    const { flags, valued, files, optional } = this.#sets;
    if (valued.has(name) || files.has(name)) return this.#valued(name, value);
    if (value === undefined ? !flags.has(name) && !optional.has(name) : !optional.has(name)) return unknown(text);
    this.#options.push({ name, value });
    return undefined;
  }

  #short(text: string): string | undefined {
    if (this.#rules.count && /^-[0-9]+$/.test(text)) return undefined;
    for (let index = 1; index < text.length; index++) {
      const name = `-${text[index]}`;
      if (this.#sets.valued.has(name) || this.#sets.files.has(name)) {
        const attached = text.slice(index + 1);
        return this.#valued(name, attached === "" ? undefined : attached);
      }
      if (!this.#sets.flags.has(name)) return unknown(text);
      this.#options.push({ name, value: undefined });
    }
    return undefined;
  }

  /** An option with its value, taken from the next word if it is not attached. */
  #valued(name: string, attached: string | undefined): string | undefined {
    let value = attached;
    if (value === undefined) {
      const word = this.#take();
      if (word === undefined) return `the option ${name} has no value`;
      value = fixedValue(word);
      if (value === undefined) return `the value of ${name} is not known beforehand`;
      if (value.startsWith("-")) return `the value of ${name} looks like an option`;
    }
    this.#options.push({ name, value });
    return undefined;
  }
}

function unknown(option: string): string {
  return `the option ${option} is not known to only read`;
}

function unknownWord({ parts, text }: Word): string {
  const [first, ...rest] = parts;
  const isInHome = first?.type === "tilde" && rest.every(({ type }) => type === "literal" || type === "glob");
  return isInHome
    ? `"${text}" is ${rest.length === 0 ? "" : "in "}the home folder`
    : `the argument ${text} is not known beforehand`;
}
