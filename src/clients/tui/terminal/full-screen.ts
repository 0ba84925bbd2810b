/** The alternate screen while a viewer uses it. */
import type { Clock } from "../../../base/clock.js";
import { FramePacer } from "./frame-pacer.js";
import { EMPTY_SCREEN, paintFullScreen } from "./full-screen-painter.js";
import type { Frame, FullScreen } from "./terminal.js";
import type { TerminalSize } from "./terminal-io.js";

export interface FullScreenOptions {
  readonly clock: Clock;
  readonly size: () => TerminalSize;
  readonly write: (bytes: string, written: () => void) => void;
  readonly onClose: () => void;
}

export class OpenFullScreen implements FullScreen {
  readonly #options: FullScreenOptions;
  readonly #pacer: FramePacer;
  #frame: Frame = { lines: [] };
  #painted = EMPTY_SCREEN;
  #isClosed = false;

  constructor(options: FullScreenOptions) {
    this.#options = options;
    this.#pacer = new FramePacer({ clock: options.clock, render: () => this.#render(), write: options.write });
  }

  paint(frame: Frame): void {
    this.#frame = frame;
    this.#pacer.request();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pacer.hold("closed");
    this.#options.onClose();
  }

  hold(): void {
    this.#pacer.hold("away");
  }

  /** Call it when the screen was cleared or resized. */
  repaint(): void {
    this.#painted = EMPTY_SCREEN;
    this.#pacer.release("away");
    this.#pacer.request();
  }

  #render(): string {
    const { bytes, painted } = paintFullScreen(this.#painted, { frame: this.#frame, ...this.#options.size() });
    this.#painted = painted;
    return bytes;
  }
}
