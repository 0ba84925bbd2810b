/** A process with a virtual terminal, for tests: everything happens when the test says so. */
import { ManualClock } from "../../src/base/clock.js";
import type { Variables } from "../../src/base/variables.js";
import type { TerminalIo, TerminalSignal } from "../../src/clients/tui/terminal/terminal-io.js";
import { VirtualTerminal } from "../../src/testkit/virtual-terminal.js";

type Event = "resize" | "lost" | "exit" | TerminalSignal;

export class FakeProcess {
  readonly clock = new ManualClock();
  readonly screen: VirtualTerminal;
  /** All that was written to the terminal. */
  bytes = "";
  isRaw = false;
  stops = 0;
  /** Says whether the terminal answers the question that every terminal answers. */
  isAnswering = true;
  /** While it is true, the terminal takes nothing. */
  isSlow = false;
  /** Holds what the watcher would write when the process is killed; undefined when it has ended or was not started. */
  watched: string | undefined;
  readonly #listeners = new Map<Event, Set<() => void>>();
  readonly #waiting: (() => void)[] = [];
  #onBytes: ((bytes: Buffer) => void) | undefined;
  #shown = Promise.resolve();
  readonly io: TerminalIo;

  constructor(variables: Variables = { TERM: "xterm-256color", TERM_PROGRAM: "vscode" }, columns = 60, rows = 12) {
    this.screen = new VirtualTerminal({ columns, rows });
    this.io = {
      variables,
      clock: this.clock,
      size: () => ({ columns: this.screen.columns, rows: this.screen.rows }),
      onResize: (listener) => this.#on("resize", listener),
      take: (onBytes) => this.#take(onBytes),
      write: (text, written) => this.#write(text, written),
      writeNow: (text) => this.#put(text),
      onLost: (listener) => this.#on("lost", listener),
      onSignal: (signal, listener) => this.#on(signal, listener),
      onExit: (listener) => this.#on("exit", listener),
      stop: () => void this.stops++,
      startWatcher: () => ({
        restoreBy: (bytes) => {
          this.watched = bytes;
        },
        end: () => {
          this.watched = undefined;
        },
      }),
    };
  }

  type(text: string): void {
    this.#onBytes?.(Buffer.from(text));
  }

  happen(event: Event): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener();
  }

  listeners(event: Event): number {
    return this.#listeners.get(event)?.size ?? 0;
  }

  resize(columns: number, rows: number): void {
    this.screen.resize({ columns, rows });
    this.happen("resize");
  }

  /** The terminal takes what waits. */
  drain(): void {
    this.isSlow = false;
    for (const written of this.#waiting.splice(0)) written();
  }

  /** Another program writes to the terminal. */
  other(text: string): void {
    this.#shown = this.#shown.then(() => this.screen.write(text));
  }

  /** The screen after all that was written. */
  async shown(): Promise<string[]> {
    await this.#shown;
    const rows = this.screen.screen();
    return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
  }

  async allLines(): Promise<string[]> {
    await this.#shown;
    return this.screen.lines();
  }

  #on(event: Event, listener: () => void): () => void {
    const all = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, all.add(listener));
    return () => all.delete(listener);
  }

  #take(onBytes: (bytes: Buffer) => void): () => void {
    this.isRaw = true;
    this.#onBytes = onBytes;
    return () => {
      this.isRaw = false;
      this.#onBytes = undefined;
    };
  }

  #write(text: string, written?: () => void): void {
    this.#put(text);
    if (this.isAnswering && text.includes("\x1b[c")) this.type("\x1b[?62;22c");
    if (written === undefined) return;
    if (this.isSlow) this.#waiting.push(written);
    else written();
  }

  #put(text: string): void {
    this.bytes += text;
    this.#shown = this.#shown.then(() => this.screen.write(text));
  }
}
