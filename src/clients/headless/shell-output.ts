/** The output of a `!command`: live, and at the end the part that the progress did not show. */
import { safeText } from "../../base/terminal-text.js";
import type { Terminal } from "./terminal.js";

export class ShellOutput {
  readonly #terminal: Terminal;
  /** The output of the running command so far; undefined if none runs. */
  #shown: string | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get isRunning(): boolean {
    return this.#shown !== undefined;
  }

  begin(): void {
    this.#shown = "";
  }

  show(text: string): void {
    this.#shown = (this.#shown ?? "") + text;
    this.#terminal.out.write(safeText(text));
  }

  /** `result` is undefined if the command was refused. */
  end(result: string | undefined): void {
    const shown = this.#shown ?? "";
    this.#shown = undefined;
    if (result === undefined) return;
    // The result has no trailing newlines, but the output does.
    const isKnown = result.startsWith(shown.trimEnd());
    const rest = isKnown ? result.slice(shown.length) : `\n${result}`;
    const { out } = this.#terminal;
    out.write(safeText(rest));
    if (!`${shown}${rest}`.endsWith("\n")) out.write("\n");
  }
}
