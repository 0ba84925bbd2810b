/**
 * awk programs that only print. There is no need to read them as awk does: a program writes or runs something only with `>`, `|`,
 * `@` or one of the words below, so none of them may appear anywhere in it, also not in a string. But for two: `||`, which is
 * taken out before, and a `>` that compares. That one writes only after `print` or `printf` in the same statement; where a
 * statement begins is certain as long as no string and no pattern holds a sign that could end one.
 */
import { wordPathProblem } from "../paths.js";
import { fixedValue } from "../word-values.js";
import type { Check } from "./check.js";

const FORBIDDEN_CHARACTERS = /[|@`#\r]|\\(?![nt"/.])/;
const WORDS = /[A-Za-z_][A-Za-z0-9_]*(\s*\()?/g;
/** Statements and variables that run, write, read other files or show the environment. */
const FORBIDDEN_WORDS = new Set(
  (
    "getline system close fflush function func nextfile delete return extension include load namespace ENVIRON PROCINFO " +
    "SYMTAB FUNCTAB ARGV ARGC ARGIND ERRNO LINT TEXTDOMAIN BINMODE"
  ).split(" "),
);
/** Lists what may precede a parenthesis. */
const FUNCTIONS = new Set(
  (
    "if while for print printf length substr index split sub gsub match sprintf tolower toupper int sqrt exp log sin cos " +
    "atan2 rand srand in"
  ).split(" "),
);

export const checkAwk: Check = ({ arguments: { options, operands }, place }) => {
  const [program, ...files] = operands;
  if (program === undefined) return "awk has no program";
  if (fixedValue(program.word) === undefined) return "the program of awk is not known beforehand";
  const assignments = options.filter(({ name }) => name === "-v" || name === "--assign");
  if (assignments.some(({ value }) => !/^([a-z_][a-z0-9_]*|O?FS|O?RS)=[\w.,:/ -]*$/.test(value ?? ""))) {
    return "awk is given a variable that may change what it does";
  }
  if (!isPrintingProgram(program.value)) return "the program of awk is not known to only print";
  const odd = files.find(({ value }) => /[\s"'={};]/.test(value));
  if (odd !== undefined) return `${odd.word.text} looks like a program rather than a file`;
  return files.map(({ word }) => wordPathProblem(word, place)).find((problem) => problem !== undefined);
};

function isPrintingProgram(program: string): boolean {
  if (FORBIDDEN_CHARACTERS.test(program.replaceAll("||", " "))) return false;
  if (program.includes(">") && !comparesOnly(program)) return false;
  for (const [text, parenthesis] of program.matchAll(WORDS)) {
    const word = parenthesis === undefined ? text : text.slice(0, -parenthesis.length);
    if (FORBIDDEN_WORDS.has(word) || (parenthesis !== undefined && !FUNCTIONS.has(word))) return false;
  }
  return true;
}

/** Tells whether no `>` in it may be one that writes. */
function comparesOnly(program: string): boolean {
  if (/[/\\]/.test(program)) return false;
  const strings = program.match(/"[^"]*"/g) ?? [];
  const rest = program.replace(/"[^"]*"/g, " ");
  if (rest.includes('"') || strings.some((text) => /[;{}>]/.test(text))) return false;
  return rest.split(/[;{}]/).every((statement) => !/\bprintf?\b.*>/s.test(statement));
}
