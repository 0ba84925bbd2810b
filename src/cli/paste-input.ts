/**
 * The keys of a terminal without its pastes: the reader gets each paste as a whole.
 *
 * 1. A bracketed paste is one paste, however it is cut into pieces.
 * 2. Where the terminal does not mark pastes, lines that arrive at once are one: no person types a line and the beginning of the next
 *    within a few milliseconds. Lines that the user typed before Oxbow read keys are not a paste.
 * 3. The reader gets keys and pastes in their order, and synchronously.
 */
import { EventEmitter } from "node:events";
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "../base/clock.js";

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";
/** The first part of `BEGIN`, at the end of what was read. */
const CUT_BEGIN = /\x1b(?:\[(?:2(?:0(?:0)?)?)?)?$/;
/** A line and the beginning of another, without keys such as Ctrl-C. */
const BURST = /^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*[\r\n][^\x00-\x1f\x7f]/;
const QUIET_MS = 25;
const TYPED_AHEAD_MS = 50;

export interface PasteInputOptions {
  readonly source: NodeJS.ReadStream;
  readonly clock: Clock;
  readonly onPaste: (text: string) => void;
  /** Gets each chunk of keys first; true if it has handled the chunk. */
  readonly onKeys?: (keys: string) => boolean;
}

/** Has the members of a stream that `readline` uses. */
export class PasteInput extends EventEmitter {
  readonly #options: PasteInputOptions;
  readonly #decoder = new StringDecoder("utf8");
  /** The chunks of a bracketed paste that has not ended yet. */
  #pasted: string[] | undefined;
  /** Lines that arrived at once so far. */
  #burst: string | undefined;
  #held = "";
  /** The terminal has marked a paste, so it marks all of them. */
  #marksPastes = false;
  #resumedAt = 0;
  #stopTimer: () => void = () => {};

  readonly #onData = (chunk: Buffer | string) => this.#take(this.#decoder.write(chunk as Buffer));
  readonly #onEnd = () => this.emit("end");
  readonly #onError = (error: Error) => this.emit("error", error);

  constructor(options: PasteInputOptions) {
    super();
    this.#options = options;
    options.source.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError);
  }

  pause(): this {
    this.#options.source.pause();
    return this;
  }

  resume(): this {
    if (this.#options.source.isPaused()) this.#resumedAt = this.#options.clock.now();
    this.#options.source.resume();
    return this;
  }

  close(): void {
    this.#stopTimer();
    const { source } = this.#options;
    source.off("data", this.#onData).off("end", this.#onEnd).off("error", this.#onError);
  }

  #take(read: string): void {
    if (read === "") return;
    const text = this.#held + read;
    this.#held = "";
    this.#stopTimer();
    if (this.#pasted !== undefined) this.#inPaste(this.#pasted, text);
    else if (this.#burst !== undefined) this.#inBurst(this.#burst + text);
    else this.#keys(text);
  }

  #keys(text: string): void {
    const begin = text.indexOf(BEGIN);
    if (begin !== -1) {
      this.#marksPastes = true;
      if (begin > 0) this.#keys(text.slice(0, begin));
      this.#inPaste([], text.slice(begin + BEGIN.length));
      return;
    }
    const isAhead = this.#options.clock.now() - this.#resumedAt < TYPED_AHEAD_MS;
    if (!isAhead && !this.#marksPastes && BURST.test(text)) {
      this.#inBurst(text);
      return;
    }
    this.#held = CUT_BEGIN.exec(text)?.[0] ?? "";
    this.#pass(text.slice(0, text.length - this.#held.length));
    if (this.#held === "") return;
    // Nothing follows, so the user pressed Escape.
    this.#stopTimer = this.#options.clock.after(QUIET_MS, () => {
      const held = this.#held;
      this.#held = "";
      this.#pass(held);
    });
  }

  #pass(keys: string): void {
    if (keys !== "" && this.#options.onKeys?.(keys) !== true) this.emit("data", keys);
  }

  #inPaste(before: string[], text: string): void {
    // Two chunks may share the end mark.
    const last = before.pop() ?? "";
    const joined = last + text;
    const end = joined.indexOf(END);
    if (end === -1) {
      const cut = Math.max(0, joined.length - END.length);
      this.#pasted = [...before, joined.slice(0, cut), joined.slice(cut)];
      return;
    }
    this.#pasted = undefined;
    this.#options.onPaste([...before, joined.slice(0, end)].join(""));
    this.#take(joined.slice(end + END.length));
  }

  #inBurst(text: string): void {
    const begin = text.indexOf(BEGIN);
    this.#stopTimer();
    if (begin !== -1) {
      this.#endBurst(text.slice(0, begin));
      this.#keys(text.slice(begin));
      return;
    }
    this.#burst = text;
    this.#stopTimer = this.#options.clock.after(QUIET_MS, () => this.#endBurst(text));
  }

  #endBurst(text: string): void {
    this.#burst = undefined;
    if (text !== "") this.#options.onPaste(text);
  }
}
