/** The lines of a script, for the line client. */
import { safeLine } from "../../base/terminal-text.js";
import type { LineSource } from "./repl.js";

export interface ScriptLine {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

/** One command or prompt a line. A line that begins with `#` is a comment; `\#` begins a prompt that begins with `#`. */
export function scriptLines(text: string): readonly ScriptLine[] {
  return text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter(({ text: line }) => line !== "" && !line.startsWith("#"))
    .map(({ number, text: line }) => ({ number, text: line.startsWith("\\#") ? line.slice(1) : line }));
}

export class ScriptLines implements LineSource {
  readonly #lines: readonly ScriptLine[];
  readonly #echo: ((text: string) => void) | undefined;
  #at = 0;

  /** `echo` shows each line before it runs. */
  constructor(lines: readonly ScriptLine[], echo?: (text: string) => void) {
    this.#lines = lines;
    this.#echo = echo;
  }

  /** The number of the line that runs, or ran last. */
  get number(): number {
    return this.#lines[this.#at - 1]?.number ?? 0;
  }

  get left(): number {
    return this.#lines.length - this.#at;
  }

  async next(): Promise<ScriptLine | undefined> {
    const line = this.#lines[this.#at];
    if (line === undefined) return undefined;
    this.#at++;
    this.#echo?.(`> ${safeLine(line.text)}\n`);
    return line;
  }

  onLine(): () => void {
    return () => {};
  }

  keep(): void {}

  onInterrupt(): () => void {
    return () => {};
  }
}
