/** The size of the screen, as the client knows it. A window that is being resized sends many sizes: the last one counts. */
import type { TerminalIo, TerminalSize } from "./terminal-io.js";

const WAIT_MS = 50;

export interface ScreenSizeOptions {
  readonly io: Pick<TerminalIo, "clock" | "size">;
  /** The size is changing, and not known yet. */
  readonly onChanging: () => void;
  readonly onChanged: () => void;
}

export class ScreenSize {
  readonly #options: ScreenSizeOptions;
  #known: TerminalSize;
  #cancelWait: (() => void) | undefined;

  constructor(options: ScreenSizeOptions) {
    this.#options = options;
    this.#known = options.io.size();
  }

  get known(): TerminalSize {
    return this.#known;
  }

  /** Whether the known size is the real one. The signal for a new size may come later than the size itself. */
  check(): boolean {
    const now = this.#options.io.size();
    const isSame = now.columns === this.#known.columns && now.rows === this.#known.rows;
    if (!isSame) this.change();
    return isSame;
  }

  change(): void {
    const { io, onChanging, onChanged } = this.#options;
    this.stop();
    onChanging();
    this.#cancelWait = io.clock.after(WAIT_MS, () => {
      this.#cancelWait = undefined;
      this.#known = io.size();
      onChanged();
    });
  }

  stop(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
  }
}
