/** The state of the live part: the requested frame, printed lines that are not written yet, and what the terminal shows. */
import { eraseLive, leaveLive, NOTHING_PAINTED, type Painted, paintFrame } from "./painter.js";
import type { Reflow } from "./reflow.js";
import type { Frame } from "./terminal.js";
import type { TerminalSize } from "./terminal-io.js";

export class LivePart {
  /** What the terminal does with the rows when its window gets narrower. */
  reflow: Reflow;
  #frame: Frame | undefined;
  #printed: string[] = [];
  #painted: Painted = NOTHING_PAINTED;

  constructor(reflow: Reflow) {
    this.reflow = reflow;
  }

  get isPainted(): boolean {
    return this.#painted !== NOTHING_PAINTED;
  }

  set(frame: Frame, printed: readonly string[]): void {
    this.#frame = frame;
    // Not by spread: a resumed session may print more lines than a call takes arguments.
    for (const line of printed) this.#printed.push(line);
  }

  render(size: TerminalSize): string {
    if (this.#frame === undefined) return "";
    const request = { frame: this.#frame, printed: this.#printed, ...size, reflow: this.reflow };
    const { bytes, painted } = paintFrame(this.#painted, request);
    this.#painted = painted;
    this.#printed = [];
    return bytes;
  }

  /** Erases the live part, before another program uses the screen. */
  erase(size: TerminalSize): string {
    if (!this.isPainted) return "";
    const bytes = eraseLive(this.#painted, { ...size, reflow: this.reflow });
    this.#painted = NOTHING_PAINTED;
    return bytes;
  }

  /** Replaces the live part by lines that stay. */
  finish(last: readonly string[], size: TerminalSize): string {
    this.set({ lines: [], cursor: { row: 0, column: 0 } }, last);
    const bytes = this.render(size);
    this.#painted = NOTHING_PAINTED;
    return bytes;
  }

  /** Leaves the live part on the screen, and moves below it. */
  leave(): string {
    return this.isPainted ? leaveLive(this.#painted) : "";
  }
}
