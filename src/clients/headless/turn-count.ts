/** Counts the running turn and the inputs that wait for one, so that the line client knows when nothing is left. */
import { typedText } from "../../base/own-shell.js";
import { firstLine } from "../../base/pasted-text.js";
import { safeText } from "../../base/terminal-text.js";
import type { Envelope } from "../../protocol/envelope.js";

export class TurnCount {
  readonly #say: (message: string) => void;
  #isRunning = false;
  #waiting = 0;
  #onIdle: () => void = () => {};

  /** `say` gets messages for the user about waiting inputs. */
  constructor(say: (message: string) => void) {
    this.#say = say;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Resolves when nothing runs or waits any more. Call it before the turn begins, because the turn may end at once. */
  nextIdle(): Promise<void> {
    this.#waiting = 0;
    return new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  follow(event: Envelope): void {
    switch (event.kind) {
      case "TurnStarted":
        this.#isRunning = true;
        // Inputs that waited in an earlier run are not counted here.
        if (event.payload.queued && this.#waiting > 0) {
          this.#waiting--;
          this.#say(`> ${safeText(firstLine(typedText(event.payload.input)))}`);
        }
        return;
      case "InputQueued":
        this.#waiting++;
        return;
      case "InputSteered":
        this.#waiting--;
        return;
      case "InputDropped":
        this.#waiting -= event.payload.inputs.length;
        for (const input of event.payload.inputs) this.#say(`Not sent: ${safeText(typedText(input))}`);
        break;
      case "TurnEnded":
        this.#isRunning = false;
        break;
      case "SessionEnded":
        // What still waits is for the next run.
        this.#waiting = 0;
        break;
      default:
        return;
    }
    if (!this.#isRunning && this.#waiting <= 0) this.#onIdle();
  }
}
