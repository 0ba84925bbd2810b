/**
 * The line that the user types while a turn writes to the same terminal, below the output.
 *
 * 1. It is cleared before output and drawn again after it, so neither overwrites the other.
 * 2. It never moves the position of the output, even in the middle of a line.
 */

import { paint } from "../../base/terminal-style.js";
import { safeLine } from "../../base/terminal-text.js";
import { textWidth } from "../../base/text-width.js";
import type { Output, Terminal } from "./terminal.js";

const ERASE_BELOW = "\u001b[J";
/** Down and up again in the same column: at the bottom of the screen this makes room for a line. */
const MAKE_ROOM = "\u001bD\u001bM";
const SAVE = "\u001b7";
const RESTORE = "\u001b8";
const NEXT_LINE = "\u001b[1B\r";
const MARK = "› ";
const USUAL_COLUMNS = 80;

export class DraftLine {
  /** All output during a draft must go through this. */
  readonly terminal: Terminal;
  readonly #err: Output;
  #text = "";
  #drawn = false;

  constructor(terminal: Terminal) {
    this.#err = terminal.err;
    const { out, err } = terminal;
    this.terminal = terminal.err.isTerminal
      ? { ...terminal, out: this.#around(out), err: this.#around(err) }
      : terminal;
  }

  show(text: string): void {
    this.#text = safeLine(text);
    this.#erase();
    this.#draw();
  }

  #around(output: Output): Output {
    if (!output.isTerminal) return output;
    return {
      ...output,
      write: (text) => {
        this.#erase();
        output.write(text);
        this.#draw();
      },
    };
  }

  #erase(): void {
    if (this.#drawn) this.#err.write(ERASE_BELOW);
    this.#drawn = false;
  }

  #draw(): void {
    if (this.#text === "") return;
    const room = (this.#err.columns ?? USUAL_COLUMNS) - MARK.length - 1;
    const line = paint(this.terminal, "bold", `${MARK}${lastPart(this.#text, room)}`);
    this.#err.write(`${MAKE_ROOM}${SAVE}${NEXT_LINE}${line}${RESTORE}`);
    this.#drawn = true;
  }
}

/** The end, where the user types. */
function lastPart(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  const letters = [...text];
  while (letters.length > 0 && textWidth(letters.join("")) > columns - 1) letters.shift();
  return `…${letters.join("")}`;
}
