/**
 * Lines from standard input, for the plain clients.
 *
 * 1. No line is lost: input typed or piped ahead waits for the next prompt, in order.
 * 2. Input typed ahead never answers a question, because the user had not seen the question.
 * 3. The terminal is in raw mode only while a line is edited or a client shows drafts. At all other times Ctrl-C is
 *    a signal and the terminal echoes what is typed. While a client shows drafts, the editor does not echo.
 * 4. A half-typed line survives a question and the end of a turn: the next prompt contains it.
 */
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import type { Clock } from "../base/clock.js";

/** Input that arrives within this time after a question counts as typed ahead. */
const SETTLE_MS = 30;

export class LineReader {
  readonly #clock: Clock;
  readonly #input: NodeJS.ReadStream;
  readonly #reader: Interface;
  readonly #ahead: string[] = [];
  readonly #interrupts = new Set<() => void>();
  readonly #onSignal = () => this.#interrupt();
  readonly #onKey = () => this.#tellDraft();
  readonly #screen = new EditorScreen();
  /** Receives lines that are typed while no prompt is open. */
  #listener: ((line: string) => void) | undefined;
  /** Shows the line that is being typed then. */
  #onDraft: ((text: string) => void) | undefined;
  #waiting: ((line: string | undefined) => void) | undefined;
  /** A question is about to be read. */
  #asking = false;
  #closed = false;

  /** `signal`: Ctrl-C while a line is typed becomes the signal it would be otherwise, for a program with its own handler. */
  constructor(clock: Clock, { interrupt = "here" }: { readonly interrupt?: "here" | "signal" } = {}) {
    this.#clock = clock;
    this.#input = process.stdin;
    const terminal = this.#input.isTTY === true;
    this.#reader = createInterface({ input: this.#input, output: this.#screen, terminal, historySize: 500 });
    this.#reader.on("line", (line) => this.#take(line));
    this.#reader.on("close", () => {
      this.#closed = true;
      this.#settle(undefined);
    });
    // A closed terminal fails at every step. stop-signals.ts notices it and closes this reader.
    this.#reader.on("error", () => {});
    if (interrupt === "signal") this.#reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
    else {
      this.#reader.on("SIGINT", this.#onSignal);
      process.on("SIGINT", this.#onSignal);
    }
    // After the editor's own handler, so the line is current.
    this.#input.on("keypress", this.#onKey);
    this.#rest();
  }

  /** The next line; undefined when the input has ended. */
  async next(prompt: string): Promise<string | undefined> {
    const ahead = this.#ahead.shift();
    if (ahead === undefined) return this.#edit(prompt);
    if (this.#input.isTTY) process.stderr.write(`${prompt}${ahead}\n`);
    return ahead;
  }

  /** The answer to a question; undefined if the input has ended or the signal fires. */
  async ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    if (this.#closed || signal?.aborted) return undefined;
    this.#reader.resume();
    this.#asking = true;
    await new Promise<void>((resolve) => this.#clock.after(SETTLE_MS, resolve));
    this.#asking = false;
    const stop = () => {
      process.stderr.write("\n");
      this.#settle(undefined);
    };
    signal?.addEventListener("abort", stop, { once: true });
    const draft = this.#takeDraft();
    const answer = await this.#edit(question);
    signal?.removeEventListener("abort", stop);
    if (draft !== "") this.#reader.write(draft);
    this.#tellDraft();
    return answer;
  }

  /** While a turn runs, typed lines go to it. Lines from a pipe wait, because they were written without knowing it. */
  onLine(action: (line: string) => void, onDraft?: (text: string) => void): () => void {
    if (!this.#input.isTTY || this.#closed) return () => {};
    this.#listener = action;
    this.#onDraft = onDraft;
    if (this.#waiting === undefined) {
      this.#rest();
      this.#reader.resume();
    }
    return () => {
      this.#listener = undefined;
      this.#onDraft = undefined;
      if (this.#waiting === undefined) this.#rest();
    };
  }

  /** Keeps a line for the next prompt. */
  keep(line: string): void {
    this.#ahead.push(line);
  }

  /** While a turn runs, Ctrl-C cancels it. */
  onInterrupt(action: () => void): () => void {
    this.#interrupts.add(action);
    return () => this.#interrupts.delete(action);
  }

  close(): void {
    process.off("SIGINT", this.#onSignal);
    this.#input.off("keypress", this.#onKey);
    this.#reader.close();
    this.#screen.close();
  }

  #edit(prompt: string): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    this.#raw("on");
    this.#screen.silent = false;
    this.#reader.setPrompt(prompt);
    this.#reader.resume();
    if (this.#input.isTTY) this.#reader.prompt(true);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #take(line: string): void {
    if (this.#waiting !== undefined) this.#settle(line);
    else if (this.#listener !== undefined && !this.#asking) this.#listener(line);
    else this.#ahead.push(line);
  }

  #settle(line: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#rest();
    waiting?.(line);
  }

  #rest(): void {
    this.#screen.silent = true;
    if (!this.#closed && this.#listener === undefined) this.#reader.pause();
    this.#raw(this.#onDraft === undefined ? "off" : "on");
  }

  #tellDraft(): void {
    if (this.#waiting === undefined && !this.#closed) this.#onDraft?.(this.#reader.line);
  }

  /** Takes the half-typed line away before a question. */
  #takeDraft(): string {
    const { line } = this.#reader;
    if (line === "") return "";
    this.#onDraft?.("");
    this.#reader.write(null, { ctrl: true, name: "e" });
    this.#reader.write(null, { ctrl: true, name: "u" });
    return line;
  }

  #raw(state: "on" | "off"): void {
    if (this.#input.isTTY) (this.#input as ReadStream).setRawMode(state === "on");
  }

  #interrupt(): void {
    if (this.#interrupts.size > 0) {
      for (const action of [...this.#interrupts]) action();
      return;
    }
    if (this.#waiting === undefined) return;
    const hint = this.#reader.line === "" ? "(leave with Ctrl-D or /exit)" : "";
    process.stderr.write(`${hint}\n`);
    this.#settle("");
    // Discards the half-typed line; a new prompt starts empty.
    this.#reader.write(null, { ctrl: true, name: "u" });
  }
}

/** Where the editor draws; nothing while no line is edited. */
class EditorScreen extends Writable {
  silent = true;
  readonly #onResize = () => this.emit("resize");

  constructor() {
    super({ decodeStrings: false });
    if (process.stderr.isTTY) process.stderr.on("resize", this.#onResize);
  }

  /** Each question has its own reader, whose listeners end with it. */
  close(): void {
    process.stderr.off("resize", this.#onResize);
  }

  get columns(): number {
    return process.stderr.columns;
  }

  override _write(piece: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.silent) process.stderr.write(piece);
    done();
  }
}
