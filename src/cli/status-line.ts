/** One line on stderr that shows the progress of long work. */

import { paint } from "../base/terminal-style.js";
import { safeLine } from "../base/terminal-text.js";
import { truncateText } from "../base/text-width.js";
import type { Terminal } from "../clients/headless/terminal.js";

export class StatusLine {
  readonly #terminal: Terminal;
  #visible = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Does nothing without a terminal. */
  show(message: string): void {
    if (!this.#terminal.err.isTerminal || !this.#terminal.showProgress) return;
    const line = truncateText(safeLine(message), Math.max(20, (process.stderr.columns ?? 80) - 1));
    this.#terminal.err.write(`\r\u001b[K${paint(this.#terminal, "dim", line)}`);
    this.#visible = true;
  }

  clear(): void {
    if (this.#visible) this.#terminal.err.write("\r\u001b[K");
    this.#visible = false;
  }
}
