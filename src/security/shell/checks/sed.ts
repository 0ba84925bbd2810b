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

function isPrintingScript(script: string): boolean {
  return script !== "" && !/[^\S ]/.test(script) && new SedScript(script).onlyPrints();
}

class SedScript {
  readonly #script: string;
  #position = 0;

  constructor(script: string) {
    this.#script = script;
  }

  onlyPrints(): boolean {
    while (!this.#isAtEnd()) {
      if (!this.#takeAddresses() || !this.#takeCommand()) return false;
      if (!this.#isAtEnd() && this.#next() !== ";") return false;
      this.#position += 1;
      this.#take(BLANKS);
    }
    return true;
  }

  #isAtEnd(): boolean {
    return this.#position >= this.#script.length;
  }

  #next(): string {
    return this.#script.charAt(this.#position);
  }

  #take(shape: RegExp): boolean {
    shape.lastIndex = this.#position;
    const length = shape.exec(this.#script)?.[0].length ?? -1;
    if (length >= 0) this.#position += length;
    return length > 0;
  }

  /** From the delimiter before the position to the next one, which is stepped over. */
  #takeDelimited(delimiter: string): boolean {
    const start = this.#position;
    while (!this.#isAtEnd() && this.#next() !== delimiter) this.#position += this.#next() === "\\" ? 2 : 1;
    if (this.#isAtEnd()) return false;
    // Versions of sed disagree on a delimiter inside of brackets.
    const text = this.#script.slice(start, this.#position);
    this.#position += 1;
    return !/\[[^\]]*$/.test(text) && !text.includes(" ");
  }

  /** Undefined if there is none. */
  #takeAddress(): boolean | undefined {
    if (this.#take(NUMBER)) {
      this.#take(STEP);
      return true;
    }
    if (this.#next() !== "/") return undefined;
    this.#position += 1;
    if (!this.#takeDelimited("/")) return false;
    if (this.#next() === "I") this.#position += 1;
    return true;
  }

  #takeAddresses(): boolean {
    const first = this.#takeAddress();
    if (first === false) return false;
    if (first === true && this.#next() === ",") {
      this.#position += 1;
      if (!this.#take(OFFSET) && this.#takeAddress() !== true) return false;
    }
    if (first === true && this.#next() === "!") this.#position += 1;
    return true;
  }

  #takeCommand(): boolean {
    const command = this.#next();
    this.#position += 1;
    if (command !== "" && "pdqQl=".includes(command)) return true;
    if (command !== "s" && command !== "y") return false;
    const delimiter = this.#next();
    if (delimiter === "" || !DELIMITERS.includes(delimiter)) return false;
    this.#position += 1;
    if (!this.#takeDelimited(delimiter) || !this.#takeDelimited(delimiter)) return false;
    if (command === "s") this.#take(FLAGS);
    return true;
  }
}
