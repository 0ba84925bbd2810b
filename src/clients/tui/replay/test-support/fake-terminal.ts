/** A terminal for tests: keeps the frame on the full screen, and simulates a user who types and resizes. */

import { ManualClock } from "../../../../base/clock.js";
import { InputDecoder } from "../../terminal/input-decoder.js";
import type { Frame, TerminalInput } from "../../terminal/terminal.js";
import type { ReplayOutput } from "../run-replay.js";

type ReplayTerminal = NonNullable<ReplayOutput["terminal"]>;

export class FakeTerminal implements ReplayTerminal {
  columns: number;
  rows: number;
  closed = 0;
  /** Whether the full screen is open. */
  isFull = false;
  readonly #clock = new ManualClock();
  readonly #listeners = new Set<(input: TerminalInput) => void>();
  readonly #decoder = new InputDecoder({
    clock: this.#clock,
    onAnswer() {},
    onInput: (input) => this.#send(input),
  });
  #lines: readonly string[] = [];
  #changed: (() => void)[] = [];

  constructor(columns = 60, rows = 12) {
    this.columns = columns;
    this.rows = rows;
  }

  openFullScreen() {
    this.isFull = true;
    return {
      paint: ({ lines }: Frame) => {
        this.#lines = lines;
        for (const changed of this.#changed.splice(0)) changed();
      },
      close: () => {
        this.isFull = false;
      },
    };
  }

  onInput(listener: (input: TerminalInput) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  suspend(): void {}

  async close(): Promise<void> {
    this.closed++;
  }

  /** One key after the other, as a person types. */
  type(typed: string): void {
    for (const key of typed.match(/\x1b\[\w|[\s\S]/gu) ?? []) this.#decoder.push(Buffer.from(key));
    this.#clock.advance(1000);
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.#send({ kind: "resize", columns, rows });
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  get screen(): string {
    return this.#lines.map((line) => line.replace(/\x1b\[[\d;]*m/g, "").trimEnd()).join("\n");
  }

  /** Resolves when the screen shows it; the test's time limit ends the wait. */
  async shows(text: string | RegExp): Promise<string> {
    while (this.screen.search(typeof text === "string" ? literal(text) : text) === -1) {
      await new Promise<void>((resolve) => this.#changed.push(resolve));
    }
    return this.screen;
  }

  #send(input: TerminalInput): void {
    for (const listener of this.#listeners) listener(input);
  }
}

function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
}
