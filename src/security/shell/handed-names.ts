/**
 * Names of files handed from one program to another: `find … -print0 | xargs -0 grep x`.
 *
 * 1. They are separated by NUL on both sides. Otherwise a folder called `a ` with a folder `etc` in it would be read as `/etc`.
 * 2. The program that finds them searches only the workspace and prints only names: every one of its options is on a list.
 * 3. A name may look like an option, so the program that receives them must have no option that does more than read.
 */
import { readArguments } from "./arguments.js";
import { isSensitive, mayFindSecrets } from "./paths.js";
import type { ProgramTable } from "./programs/rules.js";
import type { Command, SimpleCommand } from "./syntax.js";
import { fixedValue } from "./word-values.js";
import { programName } from "./wrappers.js";

const XARGS = { flags: "-0 -r --null --no-run-if-empty", valued: "-n -P --max-args --max-procs" };
const WITH_VALUE = /^(-[nP]|--max-(args|procs))$/;
const NULL = /^(-r?0r?|--null)$/;

/** Tells what a call of xargs runs; undefined when the command is not one, or not one that is understood. */
export function namesHandedTo(
  command: SimpleCommand,
  { from, programs }: { readonly from: Command | undefined; readonly programs: ProgramTable },
): SimpleCommand | undefined {
  const { words, redirects } = command;
  if (programName(words) !== "xargs" || from?.type !== "simple" || !printsNames(from)) return undefined;
  if (redirects.some(({ operator }) => operator.startsWith("<"))) return undefined;
  let index = 1;
  let isNull = false;
  for (let text = words[index]?.text ?? ""; text.startsWith("-"); text = words[index]?.text ?? "") {
    const taken = words.slice(index, index + (WITH_VALUE.test(text) ? 2 : 1));
    if (typeof readArguments(taken, XARGS) === "string") return undefined;
    isNull ||= NULL.test(text);
    index += taken.length;
  }
  const inner = words.slice(index);
  const name = programName(inner);
  const rules = name === undefined || !Object.hasOwn(programs, name) ? undefined : programs[name];
  return isNull && rules?.globs ? { ...command, words: inner } : undefined;
}

interface Finder {
  /** All options that may be there. */
  readonly options: RegExp;
  /** Those that must. */
  readonly wanted: readonly RegExp[];
}

const FD: Finder = {
  options: /^(-[0HIuisgFLp]+|-[detE]|--(print0|hidden|no-ignore|glob|type|extension|max-depth|exclude)(=.*)?)$/,
  wanted: [/^(-[A-Za-z]*0[A-Za-z]*|--print0)$/],
};
const FINDERS: Readonly<Record<string, Finder>> = {
  find: { options: /^-(?!printf$|print$|ls$)/, wanted: [/^-print0$/] },
  fd: FD,
  fdfind: FD,
  rg: {
    options:
      /^(-[0linsSwFu.]+|-[gtTe]|--(null|files|files-with-matches|hidden|no-ignore|fixed-strings|ignore-case|glob|type|type-not)(=.*)?)$/,
    wanted: [/^(-[a-zA-Z.]*0[a-zA-Z.]*|--null)$/, /^(-[0a-zA-Z.]*l[0a-zA-Z.]*|--files|--files-with-matches)$/],
  },
  grep: {
    options:
      /^(-[rRlZiIEFwsG]+|-e|--(null|files-with-matches|recursive|ignore-case|include|exclude|exclude-dir)(=.*)?)$/,
    wanted: [/^(-[a-zA-Z]*Z[a-zA-Z]*|--null)$/, /^(-[a-zA-Z]*l[a-zA-Z]*|--files-with-matches)$/],
  },
  git: { options: /^(-[cz]+|--cached|--full-name)$/, wanted: [/^-c?zc?$/] },
};

/** Tells whether a command, if it only reads, prints names of files with NUL between them. */
function printsNames({ words, redirects }: SimpleCommand): boolean {
  const values = words.map(fixedValue);
  const [program = "", ...rest] = values.filter((value) => value !== undefined);
  const finder = Object.hasOwn(FINDERS, program) ? FINDERS[program] : undefined;
  if (finder === undefined || (program === "git" && rest[0] !== "ls-files")) return false;
  const options = rest.filter((value) => value.startsWith("-") && value !== "--");
  return (
    redirects.every(({ target }) => fixedValue(target) === "/dev/null") &&
    options.every((option) => finder.options.test(option)) &&
    finder.wanted.every((shape) => options.some((option) => shape.test(option))) &&
    !rest.some((value) => isSensitive(value) || value.split("/").some(mayFindSecrets))
  );
}
