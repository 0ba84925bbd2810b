/**
 * A full-screen view on a terminal.
 *
 * 1. `close` restores the earlier content of the terminal, with its cursor.
 * 2. Only changed lines are written, in one write, so nothing flickers.
 * 3. The terminal does not wrap: if it measures a character wider than we do, one cell is wrong, not the layout.
 */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J";
const LEAVE = "\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l";
const BEGIN_FRAME = "\u001b[?2026h";
const END_FRAME = "\u001b[?2026l";

export class Screen {
  readonly #write: (text: string) => unknown;
  #shown: readonly string[] = [];
  #state: "new" | "open" | "closed" = "new";

  constructor(write: (text: string) => unknown) {
    this.#write = write;
  }

  draw(lines: readonly string[]): void {
    if (this.#state === "closed") return;
    let frame = "";
    if (this.#state === "new") frame += ENTER;
    this.#state = "open";
    for (const [row, line] of lines.entries()) {
      // Clear first: after a full line the cursor is still on its last cell.
      if (line !== this.#shown[row]) frame += `\u001b[${row + 1};1H\u001b[0m\u001b[2K${line}`;
    }
    this.#shown = [...lines];
    if (frame !== "") this.#write(`${BEGIN_FRAME}${frame}${END_FRAME}`);
  }

  /** The content of the terminal is unknown: the next draw writes everything. */
  forget(): void {
    this.#shown = [];
    if (this.#state === "open") this.#write("\u001b[2J");
  }

  close(): void {
    if (this.#state === "open") this.#write(LEAVE);
    this.#state = "closed";
  }
}
