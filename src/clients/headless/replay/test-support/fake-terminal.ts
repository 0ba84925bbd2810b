/** A terminal for tests: keeps the screen, and simulates a user who types and resizes. */
import type { ReplayTerminal } from "../run-replay.js";

const SEQUENCE = /^\u001b\[(\??)([\d;]*)([A-Za-z])/;

export class FakeTerminal implements ReplayTerminal {
  readonly isTerminal: boolean;
  readonly color = true;
  columns: number;
  rows: number;
  closed = 0;
  /** The raw writes. */
  written = "";
  /** The state of the alternate screen, the cursor and the wrapping. */
  readonly modes = new Map<string, boolean>();
  #screen: string[] = [];
  #row = 0;
  readonly #keys = new Set<(typed: string) => void>();
  readonly #resizes = new Set<() => void>();
  #changed: (() => void)[] = [];

  constructor(columns = 60, rows = 12, kind: "terminal" | "pipe" = "terminal") {
    this.columns = columns;
    this.rows = rows;
    this.isTerminal = kind === "terminal";
  }

  write(text: string): void {
    this.written += text;
    if (this.isTerminal) for (let rest = text; rest !== ""; ) rest = this.#consume(rest);
    for (const changed of this.#changed.splice(0)) changed();
  }

  onKey(listener: (typed: string) => void): () => void {
    this.#keys.add(listener);
    return () => this.#keys.delete(listener);
  }

  onResize(listener: () => void): () => void {
    this.#resizes.add(listener);
    return () => this.#resizes.delete(listener);
  }

  close(): void {
    this.closed++;
  }

  type(typed: string): void {
    for (const listener of this.#keys) listener(typed);
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    for (const listener of this.#resizes) listener();
  }

  get listeners(): number {
    return this.#keys.size + this.#resizes.size;
  }

  get screen(): string {
    return this.#screen.map((line) => line.trimEnd()).join("\n");
  }

  /** Resolves when the screen shows it; the test's time limit ends the wait. */
  async shows(text: string | RegExp): Promise<string> {
    while (this.screen.search(typeof text === "string" ? literal(text) : text) === -1) {
      await new Promise<void>((resolve) => this.#changed.push(resolve));
    }
    return this.screen;
  }

  #consume(text: string): string {
    const sequence = SEQUENCE.exec(text);
    if (sequence !== null) {
      const [whole, mark, parameters = "", final = ""] = sequence;
      if (mark === "?") this.modes.set(parameters, final === "h");
      else this.#control(final, parameters);
      return text.slice(whole.length);
    }
    const end = text.indexOf("\u001b", 1);
    const plain = end === -1 ? text : text.slice(0, end);
    if (/[\u0000-\u001f\u007f-\u009f]/.test(plain)) throw new Error(`not harmless: ${JSON.stringify(plain)}`);
    this.#screen[this.#row] = (this.#screen[this.#row] ?? "") + plain;
    return text.slice(plain.length);
  }

  #control(final: string, parameters: string): void {
    if (final === "H") this.#row = Number(parameters.split(";")[0]) - 1;
    else if (final === "K") this.#screen[this.#row] = "";
    else if (final === "J") this.#screen = Array.from({ length: this.rows }, () => "");
    else if (final !== "m") throw new Error(`unexpected control sequence ${final}`);
  }
}

function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
}
