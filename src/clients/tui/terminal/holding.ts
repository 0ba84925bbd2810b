/** Sets the terminal modes of the client (raw mode, pastes, the key protocol, the alternate screen) and restores them. */
import {
  CANCEL_SEQUENCE,
  enterFullScreen,
  enterModes,
  LAST_ANSWER,
  leaveFullScreen,
  leaveModes,
  QUESTIONS,
  SWITCH_TO_KITTY,
} from "./modes.js";
import type { TerminalIo, Watcher } from "./terminal-io.js";

/** Erases the rest of the live part below the cursor. */
const ERASE_BELOW = "\x1b[J";
const KITTY_ANSWER = /^\x1b\[\?\d+u$/;

/** A terminal that answers does so within this time, even over a slow connection. */
const ANSWER_WAIT_MS = 500;

export interface HoldingOptions {
  readonly io: TerminalIo;
  readonly onBytes: (bytes: Buffer) => void;
  /** Whether the terminal supports queries. */
  readonly asks: boolean;
  /** The bytes that restore the title and the progress. */
  readonly announced: () => string;
}

export class Holding {
  readonly #options: HoldingOptions;
  #release: (() => void) | undefined;
  #watcher: Watcher | undefined;
  #hasStarted = false;
  #askedAt: number | undefined;
  #onAnswered: (() => void) | undefined;
  #hasKitty = false;
  #isFullScreen = false;
  /** The protocol was switched on in the alternate screen only. */
  #owesKitty = false;

  constructor(options: HoldingOptions) {
    this.#options = options;
  }

  take(): void {
    const { io, onBytes } = this.#options;
    this.#release = io.take(onBytes);
    io.write(enterModes(this.#modes));
    this.notifyWatcher();
  }

  /** Writes the bytes first, then ends raw mode, so that no answer or key comes in between. */
  give(write: (bytes: string) => void): void {
    if (this.#release === undefined) return;
    write(leaveModes(this.#modes));
    this.#release();
    this.#release = undefined;
    this.notifyWatcher();
  }

  /** Restores the terminal at once, even in the middle of a frame. */
  giveNow(): void {
    this.give((bytes) => this.#options.io.writeNow(CANCEL_SEQUENCE + bytes));
  }

  end(): void {
    this.#watcher?.end();
  }

  /** Work that can wait until the first frame. */
  startLate(): void {
    if (this.#hasStarted || this.#release === undefined) return;
    this.#hasStarted = true;
    if (this.#options.asks) {
      this.#askedAt = this.#options.io.clock.now();
      this.#options.io.write(QUESTIONS);
    }
    this.#watcher = this.#options.io.startWatcher?.();
    this.notifyWatcher();
  }

  /** Whether answers may still come. */
  get waits(): boolean {
    if (this.#askedAt === undefined || this.#release === undefined) return false;
    return this.#options.io.clock.now() - this.#askedAt < ANSWER_WAIT_MS;
  }

  /** Resolves after the last answer or the time limit. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.io.clock.after(ANSWER_WAIT_MS, resolve);
      this.#onAnswered = () => {
        cancel();
        resolve();
      };
    });
  }

  takeAnswer(answer: string): void {
    if (LAST_ANSWER.test(answer)) {
      this.#askedAt = undefined;
      this.#onAnswered?.();
    }
    if (!KITTY_ANSWER.test(answer) || this.#hasKitty) return;
    this.#hasKitty = true;
    if (this.#release === undefined) return;
    this.#options.io.write(SWITCH_TO_KITTY);
    this.#owesKitty = this.#isFullScreen;
    this.notifyWatcher();
  }

  enterFullScreen(): string {
    this.#isFullScreen = true;
    this.notifyWatcher();
    return enterFullScreen(this.#modes);
  }

  leaveFullScreen(): string {
    this.#isFullScreen = false;
    this.notifyWatcher();
    const switched = this.#owesKitty ? SWITCH_TO_KITTY : "";
    this.#owesKitty = false;
    return leaveFullScreen(this.#modes) + switched;
  }

  get #modes() {
    return { hasKitty: this.#hasKitty, isFullScreen: this.#isFullScreen };
  }

  /** Sends the watcher the current restore sequence. */
  notifyWatcher(): void {
    const modes = CANCEL_SEQUENCE + leaveModes(this.#modes) + ERASE_BELOW + this.#options.announced();
    this.#watcher?.restoreBy(this.#release === undefined ? "" : modes);
  }
}
