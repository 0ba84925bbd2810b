/**
 * sed scripts that only print: addresses with `p d q Q l =`, and `s` and `y` without the flags that write or run. Blanks may stand
 * after a semicolon that ends a command and nowhere else, because every version of sed reads what follows a `w`, `r` or `e` up to
 * the end of the line.
 */
import { wordPathProblem } from "../paths.js";
import type { Check } from "./check.js";

const DELIMITERS = "/#|,:@!%";
const FLAGS = /[gpIi0-9]*/y;
const NUMBER = /[0-9]+|\$/y;
const STEP = /~[0-9]+/y;
const BLANKS = / +/y;
const OFFSET = /[+~][0-9]+/y;

export const checkSed: Check = ({ arguments: { options, operands }, place }) => {
  const scripts = options
    .filter(({ name }) => name === "-e" || name === "--expression")
    .map(({ value }) => value ?? "");
  const files = [...operands];
  if (scripts.length === 0) {
    const first = files.shift();
    if (first === undefined) return "sed has no script";
    if (first.word.parts.some((part) => part.type === "glob"))
      return "the script of sed may be replaced by a file name";
    scripts.push(first.value);
  }
  if (!scripts.every(isPrintingScript)) return "the script of sed is not known to only print";
  const odd = files.find(({ value }) => /[\s;]/.test(value));
  if (odd !== undefined) return `${odd.word.text} looks like a script rather than a file`;
  return files.map(({ word }) => wordPathProblem(word, place)).find((problem) => problem !== undefined);
};

export function isPrintingScript(script: string): boolean {
  if (script === "" || /[^\S ]/.test(script)) return false;
  let position = 0;
  const take = (shape: RegExp): boolean => {
    shape.lastIndex = position;
    const length = shape.exec(script)?.[0].length ?? -1;
    if (length >= 0) position += length;
    return length > 0;
  };
  /** From the delimiter at `position` to the next one, which is stepped over. */
  const takeDelimited = (delimiter: string): boolean => {
    const start = position;
    while (position < script.length && script[position] !== delimiter) position += script[position] === "\\" ? 2 : 1;
    if (position >= script.length) return false;
    // Versions of sed disagree on a delimiter inside of brackets.
    const text = script.slice(start, position);
    const closed = !/\[[^\]]*$/.test(text) && !text.includes(" ");
    position += 1;
    return closed;
  };
  const takeAddress = (): boolean | undefined => {
    if (take(NUMBER)) {
      take(STEP);
      return true;
    }
    if (script[position] !== "/") return undefined;
    position += 1;
    if (!takeDelimited("/")) return false;
    if (script[position] === "I") position += 1;
    return true;
  };
  const takeAddresses = (): boolean => {
    const first = takeAddress();
    if (first === false) return false;
    if (first === true && script[position] === ",") {
      position += 1;
      if (!take(OFFSET) && takeAddress() !== true) return false;
    }
    if (first === true && script[position] === "!") position += 1;
    return true;
  };
  const takeCommand = (): boolean => {
    const command = script.charAt(position);
    position += 1;
    if (command !== "" && "pdqQl=".includes(command)) return true;
    if (command !== "s" && command !== "y") return false;
    const delimiter = script.charAt(position);
    if (delimiter === "" || !DELIMITERS.includes(delimiter)) return false;
    position += 1;
    if (!takeDelimited(delimiter) || !takeDelimited(delimiter)) return false;
    if (command === "s") take(FLAGS);
    return true;
  };
  while (position < script.length) {
    if (!takeAddresses() || !takeCommand()) return false;
    if (position < script.length && script[position] !== ";") return false;
    position += 1;
    take(BLANKS);
  }
  return true;
}
