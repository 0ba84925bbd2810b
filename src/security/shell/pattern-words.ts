/**
 * Patterns such as `git commit *`: the words that say what is run, then any arguments. Without the star, exactly these words.
 *
 * 1. A pattern never covers a redirect that writes, a variable that changes what runs, or an argument that is not known.
 * 2. No pattern covers some programs and options, not even one that the user wrote: see `programs/patterns.ts`.
 */
import { hasHarmlessSurroundings } from "./judge-simple.js";
import { isSensitive } from "./paths.js";
import { NAMING_WORDS, NEVER_BEGINNINGS, NEVER_BY_PATTERN, NOT_BY_PATTERN, ONLY_BY_NAME } from "./programs/patterns.js";
import { READ_ONLY_PROGRAMS } from "./programs/table.js";
import type { SimpleCommand, Word } from "./syntax.js";
import { fixedValue, globValue } from "./word-values.js";

const PROGRAM = /^(\.\/)?[A-Za-z0-9_][\w.+-]*(\/[A-Za-z0-9_][\w.+-]*)*$/;
const VERSION_ONLY = "--version";
const NAMING_WORD = /^[A-Za-z0-9@][\w:.@/+-]*$/;

/** The pattern to offer for a command; undefined if only the exact command can be allowed. */
export function commandPattern(command: SimpleCommand): string | undefined {
  const values = command.words.map(fixedValue);
  const [program] = values;
  if (program === undefined || !PROGRAM.test(program) || (program.includes("/") && !program.startsWith("./")))
    return undefined;
  if (onlyReads(program)) return undefined;
  const naming = values.slice(0, namingCount(values));
  if (naming.slice(1).some((value) => value === undefined || !NAMING_WORD.test(value))) return undefined;
  const pattern = naming.length < values.length ? `${naming.join(" ")} *` : naming.join(" ");
  return coversCommand(pattern, command) ? pattern : undefined;
}

/**
 * Finds programs that only read: they ask for the sake of a path or an option, which a pattern would let through. Not so those that are
 * known by some of their sub-commands, or by their version alone.
 */
function onlyReads(program: string): boolean {
  const rules = Object.hasOwn(READ_ONLY_PROGRAMS, program) ? READ_ONLY_PROGRAMS[program] : undefined;
  return rules !== undefined && rules.commands === undefined && rules.required !== VERSION_ONLY;
}

function namingCount(values: readonly (string | undefined)[]): number {
  for (const length of [3, 2, 1]) {
    const count = NAMING_WORDS[values.slice(0, length).join(" ")];
    if (count !== undefined && values.length >= length) return count;
  }
  return 1;
}

/** Tells whether a pattern allows a command. */
export function coversCommand(pattern: string, command: SimpleCommand): boolean {
  const wanted = pattern.trim().split(/\s+/);
  const open = wanted.at(-1) === "*";
  if (open) wanted.pop();
  const { words } = command;
  if (wanted.length === 0 || wanted[0] === "" || words.length < wanted.length) return false;
  if (!open && words.length !== wanted.length) return false;
  if (!wanted.every((value, index) => words[index] !== undefined && fixedValue(words[index]) === value)) return false;
  const program = wanted[0] ?? "";
  return (
    !isForbidden(words, wanted.join(" ")) &&
    hasHarmlessSurroundings(command) &&
    argumentsAreCovered(program, words.slice(wanted.length))
  );
}

function isForbidden(words: readonly Word[], named: string): boolean {
  const values = words.map((word) => fixedValue(word) ?? "");
  const text = `${values.join(" ")} `;
  return (
    NEVER_BY_PATTERN.has(values[0]?.split("/").at(-1) ?? "") ||
    NEVER_BEGINNINGS.some((beginning) => text.startsWith(`${beginning} `)) ||
    ONLY_BY_NAME.some((beginning) => text.startsWith(`${beginning} `) && !`${named} `.startsWith(`${beginning} `))
  );
}

function argumentsAreCovered(program: string, words: readonly Word[]): boolean {
  const anything = Object.hasOwn(READ_ONLY_PROGRAMS, program) && READ_ONLY_PROGRAMS[program]?.anyText === true;
  const refused = Object.hasOwn(NOT_BY_PATTERN, program) ? (NOT_BY_PATTERN[program] ?? []) : [];
  return words.every((word) => {
    if (anything) return true;
    const value = globValue(word);
    if (value === undefined || isSensitive(value)) return false;
    if (value.includes("ext::") || (program === "make" && value.includes("="))) return false;
    return !refused.some((option) => isOption(value, option));
  });
}

/** `--upload-pack`, `--upload-pack=x`, `--upload-pa`; `-o`, `-oFILE`, `-ro`. */
function isOption(value: string, option: string): boolean {
  if (option.startsWith("--")) {
    const name = value.split("=", 1)[0] ?? "";
    return name.length > 3 && name.startsWith("--") && option.startsWith(name);
  }
  if (option.length > 2) return value === option || value.startsWith(`${option}=`);
  return /^-[^-]/.test(value) && value.includes(option.charAt(1));
}
