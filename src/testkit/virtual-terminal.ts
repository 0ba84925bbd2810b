/** A terminal without a window: takes the output of a program, and shows what a user would see. */
import xterm from "@xterm/headless";

export interface VirtualTerminalOptions {
  readonly columns: number;
  readonly rows: number;
}

const SCROLLBACK = 100_000;

export class VirtualTerminal {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  /** The terminal's replies to queries of the program. */
  answers = "";

  constructor({ columns, rows }: VirtualTerminalOptions) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: SCROLLBACK, allowProposedApi: true });
    this.#terminal.onData((data) => {
      this.answers += data;
    });
  }

  write(bytes: string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(bytes, resolve));
  }

  resize({ columns, rows }: VirtualTerminalOptions): void {
    this.#terminal.resize(columns, rows);
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  get modes() {
    return this.#terminal.modes;
  }

  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  /** The rows of the screen, without blanks at their ends. */
  screen(): string[] {
    const { baseY } = this.#terminal.buffer.active;
    return this.#rows(baseY, baseY + this.#terminal.rows).map(({ text }) => text.trimEnd());
  }

  /** Scrollback and screen as lines, with wrapped lines joined and without empty lines at the end. */
  lines(): string[] {
    const lines: string[] = [];
    for (const { text, isWrapped } of this.#rows(0, this.#terminal.buffer.active.length)) {
      if (isWrapped) lines.push((lines.pop() ?? "") + text);
      else lines.push(text);
    }
    const trimmed = lines.map((line) => line.trimEnd());
    return trimmed.slice(0, trimmed.findLastIndex((line) => line !== "") + 1);
  }

  /** Counted from the first row of the screen. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  #rows(from: number, to: number): { text: string; isWrapped: boolean }[] {
    return Array.from({ length: to - from }, (_, index) => {
      const line = this.#terminal.buffer.active.getLine(from + index);
      return { text: line?.translateToString(false) ?? "", isWrapped: line?.isWrapped ?? false };
    });
  }
}
