/** Whether the background is light: by the terminal's answer, or else by a variable that some terminals set. */
import { lightByAnswer, lightByVariable } from "./abilities.js";
import { LAST_ANSWER } from "./modes.js";
import type { TerminalIo } from "./terminal-io.js";

const WAIT_MS = 300;

export class BackgroundColour {
  readonly #io: Pick<TerminalIo, "clock" | "variables">;
  #known: { readonly isLight: boolean | undefined } | undefined;
  #waiting: ((isLight: boolean | undefined) => void)[] = [];
  #cancelTimer: (() => void) | undefined;

  constructor(io: Pick<TerminalIo, "clock" | "variables">) {
    this.#io = io;
  }

  isLight(): Promise<boolean | undefined> {
    if (this.#known !== undefined) return Promise.resolve(this.#known.isLight);
    this.#cancelTimer ??= this.#io.clock.after(WAIT_MS, () => this.giveUpWaiting());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  takeAnswer(answer: string): void {
    const isLight = lightByAnswer(answer);
    if (isLight !== undefined) this.#decide(isLight);
    else if (LAST_ANSWER.test(answer)) this.giveUpWaiting();
  }

  /** No answer will come any more. */
  giveUpWaiting(): void {
    this.#decide(lightByVariable(this.#io.variables));
  }

  #decide(isLight: boolean | undefined): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    // A late answer of the terminal is better than the variable.
    this.#known = { isLight };
    for (const resolve of this.#waiting.splice(0)) resolve(isLight);
  }
}
