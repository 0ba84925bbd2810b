/** Turns typed words into the arguments of a command. */
import { type Word, wordsOf } from "../base/shell-word.js";
import { UsageError } from "../base/usage-error.js";
import {
  type Argument,
  type CommandArguments,
  type CommandContext,
  type CommandSpec,
  refuse,
  spell,
} from "../feature/command.js";
import { type Flag, type ParsedFlags, parseFlags } from "../feature/flags.js";
import type { Failure } from "../protocol/errors.js";
import { usageOf } from "./usage.js";

type Parsed = CommandArguments | { readonly failure: Failure };

const SLASH = { surface: "slash" } as const;

/** The text after a slash command's name. A `rest` argument keeps it as typed, with quotation marks. */
export function parseLine(spec: CommandSpec, line: string): Parsed {
  const words = wordsOf(line);
  if (spec.flags === undefined) {
    const between: Typed["between"] = (argument, taken) => slice(line, argument, taken);
    return assign(spec, { words, flags: NO_FLAGS, context: SLASH, between });
  }
  try {
    if (spec.arguments?.some(({ kind }) => kind === "line")) return parseText(spec, line, words);
    return parseWords(spec, flagsOf(spec, words), SLASH);
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.message);
    throw error;
  }
}

/** Reading flags takes time in proportion to the square of their number and of the length of a group of short ones. */
const MOST_WORDS = 1000;

function flagsOf({ flags = [], name }: CommandSpec, words: readonly Word[]): ParsedFlags {
  if (words.length > MOST_WORDS) throw new UsageError(`More than ${MOST_WORDS} words are too many.`);
  const group = words.find(({ value }) => /^-\w/.test(value) && value.length > MOST_WORDS);
  if (group !== undefined) throw new UsageError(`Unknown flag ${group.value.slice(0, 20)}….`);
  return parseFlags(
    flags,
    words.map(({ value }) => value),
    name.replaceAll(":", " "),
  );
}

/**
 * Text that is taken as it was typed, with flags around it. A word that looks like a flag and is none belongs to the text:
 * `-without`, and `--frozen-lockfile` behind the first word. Before the text it is a mistake.
 */
function parseText(spec: CommandSpec, line: string, words: readonly Word[]): Parsed {
  const known = new Map((spec.flags ?? []).flatMap((flag) => flagNames(flag).map((name) => [name, flag] as const)));
  const flagWords: Word[] = [];
  const textWords: Word[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as Word;
    const typed = line.slice(word.start, word.end);
    if (typed === "--") {
      textWords.push(...words.slice(at + 1));
      break;
    }
    const flag = typed.startsWith("-") ? known.get(typed.replace(/=.*$/s, "")) : undefined;
    const isMistake = flag === undefined && /^--\w/.test(typed) && textWords.length === 0;
    if (flag === undefined && !isMistake) textWords.push(word);
    else flagWords.push(word);
    const next = words[at + 1];
    if (flag?.value !== undefined && !typed.includes("=") && next !== undefined) {
      flagWords.push(next);
      at++;
    }
  }
  const flags = flagsOf(spec, flagWords);
  return assign(spec, { words: textWords, flags, context: SLASH, between: typedBetween(line, flagWords) });
}

function flagNames({ name, short }: Flag): readonly string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
}

/** With its line breaks and quotation marks, unless a flag stands within it. */
function typedBetween(line: string, flagWords: readonly Word[]): Typed["between"] {
  return (argument, taken) => {
    const [from = 0, to = 0] = [taken[0]?.start, taken.at(-1)?.end];
    if (!flagWords.some(({ start }) => start > from && start < to)) return slice(line, argument, taken);
    return taken.map(({ start, end }) => line.slice(start, end)).join(" ");
  };
}

/** The words of a command line, without its flags. */
export function parseWords(
  spec: CommandSpec,
  flags: Pick<ParsedFlags, "words" | "has" | "text" | "list">,
  context: Pick<CommandContext, "surface">,
): Parsed {
  const words = flags.words.map((value) => ({ value, start: 0, end: 0 }));
  const between: Typed["between"] = (_argument, taken) => taken.map(({ value }) => value).join(" ");
  return assign(spec, { words, flags, context, between });
}

/** Removes the quotation marks of one quoted text, as a shell would. */
function slice(line: string, { kind }: Argument, taken: readonly Word[]): string {
  const [first] = taken;
  if (taken.length === 1 && kind !== "line") return first?.value ?? "";
  return line.slice(first?.start, taken.at(-1)?.end);
}

const NO_FLAGS: Pick<ParsedFlags, "has" | "text" | "list"> = {
  has: () => false,
  text: () => undefined,
  list: () => [],
};

interface Typed {
  readonly words: readonly Word[];
  readonly flags: Pick<ParsedFlags, "has" | "text" | "list">;
  readonly context: Pick<CommandContext, "surface">;
  /** The text of the words that an argument takes. */
  between(argument: Argument, taken: readonly Word[]): string;
}

function assign(spec: CommandSpec, typed: Typed): Parsed {
  const { words, flags, context, between } = typed;
  const wanted = spec.arguments ?? [];
  const restAt = wanted.findIndex(({ rest }) => rest);
  const behind = restAt === -1 ? 0 : wanted.length - restAt - 1;
  const texts = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  let at = 0;
  for (const argument of wanted) {
    const end = argument.rest ? Math.max(at, words.length - behind) : Math.min(at + 1, words.length);
    const taken = words.slice(at, end);
    at = end;
    if (taken.length === 0) {
      if (argument.optional === true || (argument.optional && context.surface === "slash")) continue;
      return refuse(argument.missing ?? `${argument.name} is missing. Usage: ${usageOf(spec, context)}`);
    }
    const typedText = between(argument, taken);
    const text = argument.kind === "choice" ? typedText.toLowerCase() : typedText;
    const problem = problemWith(argument, text, argument.rest === "list" ? taken : [{ value: text }]);
    if (problem !== undefined) return refuse(problem);
    texts.set(argument.name, text);
    lists.set(
      argument.name,
      taken.map(({ value }) => value),
    );
  }
  if (at < words.length) {
    const problem = wanted.length === 0 ? `'${spell(spec.name, context)}' takes no arguments.` : "Too many arguments.";
    return refuse(`${problem} Usage: ${usageOf(spec, context)}`);
  }
  return {
    text: (name) => texts.get(name),
    number: (name) => (texts.has(name) ? Number(texts.get(name)) : undefined),
    list: (name) => lists.get(name) ?? [],
    hasFlag: (name) => flags.has(name),
    flag: (name) => flags.text(name),
    flags: (name) => flags.list(name),
  };
}

/** Linux opens no longer path, and no name is longer. Reading `../` a hundred thousand times takes seconds in which other clients wait. */
const MOST_NAME = 4096;

function problemWith(
  { name, kind, complete, rest }: Argument,
  text: string,
  values: readonly Pick<Word, "value">[],
): string | undefined {
  const isName = kind === "path" || (kind !== "line" && rest !== "text");
  const tooLong = isName && values.some(({ value }) => value.length > MOST_NAME);
  if (tooLong) return `${name}: expected at most ${MOST_NAME} characters.`;
  if (kind === "number" && !/^\d{1,9}$/.test(text)) return `${name}: expected a whole number, got "${text}".`;
  if (kind === "choice" && typeof complete === "object" && !complete.includes(text)) {
    return `There is no ${name.toLowerCase()} "${text}": give ${anyOf(complete)}.`;
  }
  return undefined;
}

function anyOf(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join("") : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}
