/** Sets title, progress, notification, bell and clipboard of one terminal, and restores them. */
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

/** Some terminals remove the progress indicator if it is not sent again. */
const PROGRESS_AGAIN_MS = 5000;

export interface AnnouncerOptions {
  readonly clock: Clock;
  readonly send: (bytes: string) => void;
  /** The result of `undo` has changed. */
  readonly onChange: () => void;
}

export class Announcer {
  readonly #abilities: Abilities;
  readonly #options: AnnouncerOptions;
  #title: string | undefined;
  #progress: { readonly state: ProgressState; readonly at: number } = { state: "none", at: 0 };

  constructor(abilities: Abilities, options: AnnouncerOptions) {
    this.#abilities = abilities;
    this.#options = options;
  }

  bell(): void {
    this.#options.send(BELL);
  }

  notify(text: string): void {
    this.#options.send(notificationBytes(text, this.#abilities));
  }

  setTitle(title: string): void {
    if (!this.#abilities.strings || this.#title === title) return;
    this.#options.send((this.#title === undefined ? PUSH_TITLE : "") + titleBytes(title));
    this.#title = title;
    this.#options.onChange();
  }

  setProgress(state: ProgressState): void {
    if (!this.#abilities.progress) return;
    const at = this.#options.clock.now();
    const isOld = state !== "none" && at - this.#progress.at >= PROGRESS_AGAIN_MS;
    if (state === this.#progress.state && !isOld) return;
    this.#progress = { state, at };
    this.#options.send(progressBytes(state));
    this.#options.onChange();
  }

  copy(text: string): boolean {
    const bytes = copyBytes(text, this.#abilities);
    if (bytes !== undefined) this.#options.send(bytes);
    return bytes !== undefined;
  }

  /** The bytes that restore the title and end the progress. */
  undo(): string {
    const title = this.#title === undefined ? "" : POP_TITLE;
    return title + (this.#progress.state === "none" ? "" : progressBytes("none"));
  }

  /** The bytes that set both again. */
  redo(): string {
    const title = this.#title === undefined ? "" : PUSH_TITLE + titleBytes(this.#title);
    return title + (this.#progress.state === "none" ? "" : progressBytes(this.#progress.state));
  }
}
