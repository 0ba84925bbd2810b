/** One line on stderr that shows that Oxbow works and for how long. It is cleared before other output. */
import type { Clock } from "../../base/clock.js";
import { paint } from "../../base/terminal-style.js";
import { timerLabel } from "../../base/turn-stats.js";
import type { Terminal } from "./terminal.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
/** Quick answers should not flicker. */
const QUIET_MS = 400;

export class Spinner {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  #startedAt = 0;
  #estimateMs: number | undefined;
  #label = "";
  #frame = 0;
  #visible = false;
  #stopTimer: (() => void) | undefined;

  constructor(terminal: Terminal, clock: Clock) {
    this.#terminal = terminal;
    this.#clock = clock;
  }

  /** A turn begins: the time counts from here. */
  begin(label: string, estimateMs?: number): void {
    this.#startedAt = this.#clock.now();
    this.#estimateMs = estimateMs;
    this.start(label);
  }

  start(label: string): void {
    if (!this.#terminal.err.isTerminal || !this.#terminal.showProgress) return;
    this.hide();
    this.#label = label;
    this.#schedule(QUIET_MS);
  }

  /** Clears the line until the next frame; call it before any other output. */
  hide(): void {
    if (!this.#visible) return;
    this.#terminal.err.write("\r\u001b[K");
    this.#visible = false;
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.hide();
  }

  #schedule(ms: number): void {
    this.#stopTimer?.();
    this.#stopTimer = this.#clock.after(ms, () => {
      const timer = timerLabel(this.#clock.now() - this.#startedAt, this.#estimateMs);
      const line = `${FRAMES[this.#frame++ % FRAMES.length]} ${this.#label} ${timer}`;
      this.#terminal.err.write(`\r\u001b[K${paint(this.#terminal, "dim", line)}`);
      this.#visible = true;
      this.#schedule(FRAME_MS);
    });
  }
}
