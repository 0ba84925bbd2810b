/** Decides whether one simple command only reads, by the tables in `programs/`. */
import { type Arguments, optionSets, readArguments } from "./arguments.js";
import { CHECKS } from "./checks/checks.js";
import { afterChange, isSensitive, mayFindSecrets, pathProblem, type Whereabouts, wordPathProblem } from "./paths.js";
import { effectOf } from "./programs/effects.js";
import type { ProgramRules, ProgramTable } from "./programs/rules.js";
import { HARMLESS_VARIABLES, isMeaningfulVariable } from "./programs/variables.js";
import type { Assignment, Redirect, SimpleCommand, Word, WordPart } from "./syntax.js";
import { allParts, fixedValue, hasGlob } from "./word-values.js";
import { programName, unwrapQuietly } from "./wrappers.js";

export interface Situation {
  readonly place: Whereabouts;
  readonly programs: ProgramTable;
}

export interface SimpleVerdict {
  /** The reason why it is not known to be read-only; undefined when it is. */
  readonly problem: string | undefined;
  /** The place where the shell may be after it. */
  readonly place: Whereabouts;
}

export function judgeSimple(command: SimpleCommand, situation: Situation): SimpleVerdict {
  const { place } = situation;
  const problem =
    command.assignments.map(assignmentProblem).find((found) => found !== undefined) ??
    command.redirects.map((redirect) => redirectProblem(redirect, place)).find((found) => found !== undefined) ??
    command.words.map(strangeTextProblem).find((found) => found !== undefined);
  if (problem !== undefined) return { problem, place };
  if (command.words.length === 0) return { problem: "it sets variables or opens files without a command", place };
  return judgeWords(command.words, situation);
}

function judgeWords(all: readonly Word[], { place, programs }: Situation): SimpleVerdict {
  const words = unwrapQuietly(all);
  if (typeof words === "string") return { problem: words, place };
  const name = programName(words);
  if (name === undefined) return { problem: `the program "${words[0]?.text}" is not known beforehand`, place };
  const rules = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (rules === undefined) return { problem: effectOf(name), place };
  if (name === "git" && (place.folders.length !== 1 || place.folders[0] !== ".")) {
    return { problem: "git may find another repository in another folder", place };
  }
  if (name === "cd") return judgeChange(words.slice(1), rules, place);
  return { problem: rulesProblem(name, { words: words.slice(1), rules, place }), place };
}

function judgeChange(words: readonly Word[], rules: ProgramRules, place: Whereabouts): SimpleVerdict {
  const target = words.at(-1);
  const path = target === undefined ? undefined : fixedValue(target);
  const problem = rulesProblem("cd", { words, rules, place });
  if (problem !== undefined || path === undefined || path === "-" || path === "") {
    return { problem: problem ?? "the folder it changes to is not known beforehand", place };
  }
  const next = afterChange(place, path);
  if (next.folders.length > 8) return { problem: "it changes folders too often", place };
  return { problem: undefined, place: next };
}

interface Call {
  readonly words: readonly Word[];
  readonly rules: ProgramRules;
  readonly place: Whereabouts;
}

function rulesProblem(name: string, { words: all, rules, place }: Call): string | undefined {
  const words = afterLeading(all, rules);
  const [first, ...rest] = words;
  const sub = first === undefined ? undefined : fixedValue(first);
  if (rules.commands !== undefined && sub !== undefined && !sub.startsWith("-")) {
    const inner = Object.hasOwn(rules.commands, sub) ? rules.commands[sub] : undefined;
    if (inner === undefined) return `"${name} ${sub}" is not known to only read`;
    return rulesProblem(`${name} ${sub}`, { words: rest, rules: inner, place });
  }
  let read: Arguments | string = { options: [], operands: [] };
  if (rules.anyText) {
    const problem = words.map((word) => textProblem(word, place)).find((found) => found !== undefined);
    if (problem !== undefined) return problem;
  } else if (!rules.unlike) {
    read = readArguments(words, rules);
    if (typeof read === "string") return read.replace(/^the option (\S+) is not known/, `"${name} $1" is not known`);
    const problem = argumentsProblem(name, { read, rules, place });
    if (problem !== undefined) return problem;
  }
  return rules.check === undefined ? undefined : CHECKS[rules.check]({ program: name, words, arguments: read, place });
}

/** The words without options before a sub-command that change nothing about what it does. */
function afterLeading(words: readonly Word[], { leading }: ProgramRules): readonly Word[] {
  if (leading === undefined) return words;
  const options = leading.split(" ");
  const first = words.findIndex((word) => !options.includes(fixedValue(word) ?? ""));
  return first === -1 ? [] : words.slice(first);
}

function argumentsProblem(
  name: string,
  { read, rules, place }: { readonly read: Arguments; readonly rules: ProgramRules; readonly place: Whereabouts },
): string | undefined {
  const { options, operands } = read;
  const { files, patterns, required } = optionSets(rules);
  const count = operands.length;
  if (rules.operands === "none" && count > 0) return `"${name} ${operands[0]?.word.text}" is not known to only read`;
  if (count < (rules.minimum ?? 0)) return `"${name}" without operands is not known to only read`;
  const several = operands.some(({ word }) => hasGlob(word));
  if (rules.maximum !== undefined && (count > rules.maximum || several)) return `"${name}" may have too many operands`;
  if (required.size > 0 && !options.some((option) => required.has(option.name))) {
    return `"${name}" is known to only read with certain options`;
  }
  for (const { name: option, value } of options) {
    if (value === undefined) continue;
    const problem = files.has(option) ? pathProblem(value, place) : namesSecrets(value);
    if (problem !== undefined) return problem;
  }
  if (rules.operands === "text" || rules.operands === "checked") return undefined;
  const patternGiven = options.some((option) => patterns.has(option.name));
  const paths = rules.operands === "pattern, files" && !patternGiven ? operands.slice(1) : operands;
  return paths.map(({ word }) => wordPathProblem(word, place)).find((found) => found !== undefined);
}

/** Options such as `--include` and `--glob` pick files by name. */
function namesSecrets(value: string): string | undefined {
  const parts = value.replace(/^!/, "").split("/");
  return isSensitive(value) || parts.some(mayFindSecrets) ? `"${value}" may pick files that hold secrets` : undefined;
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|PRIVATE|AUTH|COOKIE|SESSION/i;

/** Tells why a word may not be printed. Substitutions are judged by themselves. */
function textProblem(word: Word, place: Whereabouts): string | undefined {
  if (hasGlob(word)) return wordPathProblem(word, place);
  for (const part of allParts(word.parts)) {
    const problem = partProblem(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function partProblem(part: WordPart): string | undefined {
  if (part.type === "parameter") {
    if (SECRET_NAME.test(part.name)) return `$${part.name} may hold a secret`;
    if (part.operation === "" || part.operation === "@Q" || part.operation === "#") return undefined;
    return `what is done to $${part.name} may run commands`;
  }
  if (part.type === "arithmetic" && !/^[0-9 +\-*/%<>=!()]*$/.test(part.text))
    return "arithmetic with names may run commands";
  return undefined;
}

/** Quotes that can mislead a reader about what bash reads. */
function strangeTextProblem({ parts, text }: Word): string | undefined {
  if (!/\\["']/.test(text)) return undefined;
  const values = parts.map((part) => (part.type === "literal" ? part.value : "")).join("");
  return /[;&|`$<>\n]/.test(values) ? "escaped quotation marks stand beside operators of the shell" : undefined;
}

/** Before a command, only variables that change how things look. */
function assignmentProblem({ name, array, append, words }: Assignment): string | undefined {
  const value = words.length === 1 && words[0] !== undefined ? fixedValue(words[0]) : undefined;
  const plain = value !== undefined && /^[\w.@+/-]*$/.test(value) && !value.includes("..") && !value.startsWith("/");
  if (!HARMLESS_VARIABLES.test(name)) return `the variable ${name} may change what the command does`;
  return array || append || !plain ? `the value of ${name} is not plain` : undefined;
}

function redirectProblem({ operator, descriptor, target }: Redirect, place: Whereabouts): string | undefined {
  const value = fixedValue(target);
  const output = descriptor === undefined || descriptor === "1" || descriptor === "2";
  const input = descriptor === undefined || descriptor === "0";
  switch (operator) {
    case "<":
      if (!input || value === undefined) return "it reads from what is not known beforehand";
      return wordPathProblem(target, place);
    case "<<":
    case "<<-":
    case "<<<":
      return input ? textProblem(target, place) : "it opens another descriptor";
    case ">":
    case ">>":
    case "&>":
    case "&>>":
      return output && value === "/dev/null" ? undefined : `it writes to ${target.text}`;
    case ">&":
      return output && (value === "1" || value === "2") ? undefined : `it writes to ${target.text}`;
    default:
      return `it redirects with ${operator}`;
  }
}

/** Tells whether the command has nothing that a pattern for its words would miss. */
export function hasHarmlessSurroundings({ assignments, redirects }: SimpleCommand): boolean {
  const place: Whereabouts = { workspace: undefined, folders: ["."] };
  return (
    assignments.every((assignment) => assignmentProblem(assignment) === undefined) &&
    redirects.every((redirect) => redirectProblem(redirect, place) === undefined)
  );
}

/** A script of nothing but plain assignments does nothing, unless its variables mean something to a shell that stays. */
export function isPlainAssignment({ assignments, words, redirects }: SimpleCommand): boolean {
  return (
    words.length === 0 &&
    redirects.length === 0 &&
    assignments.every(({ name, array, append, words: [value, ...more] }) => {
      const text = value === undefined ? undefined : fixedValue(value);
      const plain = !array && !append && more.length === 0 && text !== undefined && /^[\w .,:@%+/-]*$/.test(text);
      return plain && !isMeaningfulVariable(name);
    })
  );
}
