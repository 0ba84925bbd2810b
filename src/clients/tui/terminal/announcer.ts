/** Title, progress, notification, bell and clipboard of one terminal. Takes back what it set. */
import type { Clock } from "../../../base/clock.js";
import type { Abilities } from "./abilities.js";
import {
  BELL,
  copyBytes,
  notificationBytes,
  POP_TITLE,
  PUSH_TITLE,
  progressBytes,
  titleBytes,
} from "./announcements.js";

export type ProgressState = "none" | "busy" | "waiting";

/** Some terminals let the sign of progress fade when it is not sent again. */
const PROGRESS_AGAIN_MS = 5000;

export class Announcer {
  readonly #abilities: Abilities;
  readonly #clock: Clock;
  readonly #send: (bytes: string) => void;
  #title: string | undefined;
  #progress: { readonly state: ProgressState; readonly at: number } = { state: "none", at: 0 };

  constructor(
    abilities: Abilities,
    { clock, send }: { readonly clock: Clock; readonly send: (bytes: string) => void },
  ) {
    this.#abilities = abilities;
    this.#clock = clock;
    this.#send = send;
  }

  bell(): void {
    this.#send(BELL);
  }

  notify(text: string): void {
    this.#send(notificationBytes(text, this.#abilities));
  }

  setTitle(title: string): void {
    if (!this.#abilities.strings || this.#title === title) return;
    this.#send((this.#title === undefined ? PUSH_TITLE : "") + titleBytes(title));
    this.#title = title;
  }

  setProgress(state: ProgressState): void {
    if (!this.#abilities.progress) return;
    const at = this.#clock.now();
    const isOld = state !== "none" && at - this.#progress.at >= PROGRESS_AGAIN_MS;
    if (state === this.#progress.state && !isOld) return;
    this.#progress = { state, at };
    this.#send(progressBytes(state));
  }

  copy(text: string): boolean {
    const bytes = copyBytes(text, this.#abilities);
    if (bytes !== undefined) this.#send(bytes);
    return bytes !== undefined;
  }

  /** Restores the title and ends the progress. */
  takeBack(): string {
    const title = this.#title === undefined ? "" : POP_TITLE;
    const progress = this.#progress.state === "none" ? "" : progressBytes("none");
    this.#title = undefined;
    this.#progress = { state: "none", at: 0 };
    return title + progress;
  }
}
