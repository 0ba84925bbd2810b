/** Shows on a terminal what a long wait is for, and clears the line before other output. */
import type { Clock } from "../base/clock.js";

const MOMENT_MS = 60;
const BACK = "\r\x1b[2K";

export class LookingLine {
  readonly #write: (text: string) => void;
  readonly #cancel: () => void;
  #isShown = false;

  constructor(text: string, { write, clock }: { readonly write: (text: string) => void; readonly clock: Clock }) {
    this.#write = write;
    this.#cancel = clock.after(MOMENT_MS, () => {
      this.#isShown = true;
      write(text);
    });
  }

  /** May be called again. */
  end(): void {
    this.#cancel();
    if (this.#isShown) this.#write(BACK);
    this.#isShown = false;
  }
}
