/**
 * Shows a command's output while it runs. Every event is also logged, so the number of events is limited: the first one after a
 * moment (a command that ends before shows its result), then ten a second, and one a second after a lot of output. Each event holds
 * only the newest lines.
 */
import type { Clock } from "../../base/clock.js";
import { commandText, wholeCharactersEnd } from "./command-text.js";

const PIECE_BYTES = 2048;
const FIRST_MS = 40;
const QUICK_MS = 100;
const SLOW_MS = 1000;
const QUICK_BYTES = 64 * 1024;

export class LiveProgress {
  readonly #show: (text: string) => void;
  readonly #clock: Clock;
  #pending: Uint8Array = new Uint8Array();
  #cut = false;
  #shown = 0;
  #begun = false;
  #stopTimer: (() => void) | undefined;

  constructor(show: (text: string) => void, clock: Clock) {
    this.#show = show;
    this.#clock = clock;
  }

  write(chunk: Uint8Array): void {
    const joined = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk.subarray(-PIECE_BYTES)]);
    this.#cut ||= this.#pending.length + chunk.length > PIECE_BYTES;
    this.#pending = joined.subarray(-PIECE_BYTES);
    if (this.#stopTimer !== undefined) return;
    if (this.#begun) this.#flush();
    else this.#stopTimer = this.#clock.after(FIRST_MS, () => this.#flush());
    this.#begun = true;
  }

  /** The command ended. Clients that watched it also see its last output; otherwise the result shows everything. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = () => {};
    const rest = this.#pending;
    this.#pending = new Uint8Array();
    if (this.#shown > 0 && rest.length > 0) this.#show(commandText(rest, this.#cut ? { cutBefore: true } : {}));
  }

  #flush(): void {
    this.#stopTimer = undefined;
    const end = wholeCharactersEnd(this.#pending);
    if (end === 0) return;
    const text = commandText(this.#pending.subarray(0, end), this.#cut ? { cutBefore: true } : {});
    this.#shown += end;
    this.#pending = this.#pending.slice(end);
    this.#cut = false;
    this.#stopTimer = this.#clock.after(this.#shown < QUICK_BYTES ? QUICK_MS : SLOW_MS, () => this.#flush());
    this.#show(text);
  }
}
