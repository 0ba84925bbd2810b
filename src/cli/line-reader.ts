/**
 * Lines from standard input, for the plain clients.
 *
 * 1. No line is lost: input typed or piped ahead waits for the next prompt, in order.
 * 2. Input typed ahead never answers a question, because the user had not seen the question.
 * 3. The terminal is in raw mode only while a line is edited or a client shows drafts. At all other times Ctrl-C is
 *    a signal and the terminal echoes what is typed. While a client shows drafts, the editor does not echo.
 * 4. A half-typed line survives a question and the end of a turn: the next prompt contains it.
 * 5. On a terminal a paste is one block: it sends nothing and answers nothing, and what begins with it is words, not a command. A
 *    backslash at the end of a line, Ctrl-J, Alt-Enter and Shift-Enter continue the input on the next line.
 */
import { createInterface, type Interface } from "node:readline";
import type { ReadStream } from "node:tty";
import type { Clock } from "../base/clock.js";
import { cleanPaste, firstLine } from "../base/pasted-text.js";
import type { TypedLine } from "../clients/headless/repl.js";
import { EditorScreen } from "./editor-screen.js";
import { completerOf, type LineCompletion } from "./line-completer.js";
import { PasteInput } from "./paste-input.js";
import { PasteMarks } from "./paste-marks.js";

/** Input that arrives within this time after a question counts as typed ahead. */
const SETTLE_MS = 30;
const MARK_PASTES = "\x1b[?2004h";
const LEAVE_PASTES = "\x1b[?2004l";
const CONTINUED = "  ";
/** Ctrl-J, Alt-Enter and Shift-Enter, at the end of what was typed. */
const NEWLINE_KEY = /^([^\n]*?)(\n|\x1b\r|\x1b\n|\x1b\[13;2u|\x1b\[27;2;13~)$/;
/** Backspace and Ctrl-W. */
const DELETE_KEYS: ReadonlySet<string> = new Set(["\x7f", "\x08", "\x17"]);

export interface LineReaderOptions {
  /** `signal`: Ctrl-C while a line is typed becomes the signal it would be otherwise, for a program with its own handler. */
  readonly interrupt?: "here" | "signal";
  readonly complete?: LineCompletion;
}

export class LineReader {
  readonly #clock: Clock;
  readonly #input: NodeJS.ReadStream;
  readonly #reader: Interface;
  /** On a terminal: the input without pastes. */
  readonly #keys: PasteInput | undefined;
  readonly #marks = new PasteMarks();
  readonly #ahead: TypedLine[] = [];
  readonly #interrupts = new Set<() => void>();
  readonly #onSignal = () => this.#interrupt();
  readonly #onKey = () => this.#reportDraft();
  readonly #onExit = () => this.#leavePastes();
  readonly #screen = new EditorScreen();
  /** Receives lines that are typed while no prompt is open. */
  #listener: ((line: TypedLine) => void) | undefined;
  /** Shows the line that is being typed then. */
  #onDraft: ((text: string) => void) | undefined;
  #waiting: ((line: TypedLine | undefined) => void) | undefined;
  /** The lines of this input above the one being edited. */
  #above: string[] = [];
  /** The line is the answer to a question. */
  #isAnswer = false;
  #marksPastes = false;
  /** Enter was seen as a return, so a line feed is Ctrl-J. */
  #sendsReturn = false;
  /** A question is about to be read. */
  #asking = false;
  #closed = false;

  constructor(clock: Clock, { interrupt = "here", complete }: LineReaderOptions = {}) {
    this.#clock = clock;
    this.#input = process.stdin;
    const terminal = this.#input.isTTY === true;
    this.#keys = terminal ? this.#openKeys() : undefined;
    const input = (this.#keys as unknown as NodeJS.ReadStream | undefined) ?? this.#input;
    // Only a prompt completes: an answer is a letter or a word.
    const isPrompt = () => this.#waiting !== undefined && !this.#isAnswer;
    const completer = complete && { completer: completerOf(complete, isPrompt) };
    this.#reader = createInterface({ input, output: this.#screen, terminal, historySize: 500, ...completer });
    this.#reader.on("line", (line) => this.#take(line));
    this.#reader.on("close", () => {
      this.#closed = true;
      this.#resolveLine(undefined);
    });
    // A closed terminal fails at every step. stop-signals.ts notices it and closes this reader.
    this.#reader.on("error", () => {});
    if (interrupt === "signal") this.#reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
    else {
      this.#reader.on("SIGINT", this.#onSignal);
      process.on("SIGINT", this.#onSignal);
    }
    // After the editor's own handler, so the line is current.
    input.on("keypress", this.#onKey);
    process.on("exit", this.#onExit);
    this.#rest();
  }

  /** The next line; undefined when the input has ended. */
  async next(prompt: string): Promise<TypedLine | undefined> {
    const ahead = this.#ahead.shift();
    if (ahead === undefined) return this.#edit(prompt);
    if (this.#input.isTTY) process.stderr.write(`${prompt}${firstLine(ahead.text)}\n`);
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
      this.#resolveLine(undefined);
    };
    signal?.addEventListener("abort", stop, { once: true });
    const draft = this.#takeDraft();
    this.#isAnswer = true;
    const answer = await this.#edit(question);
    this.#isAnswer = false;
    signal?.removeEventListener("abort", stop);
    if (draft !== "") this.#reader.write(draft);
    this.#reportDraft();
    return answer?.text;
  }

  /** While a turn runs, typed lines go to it. Lines from a pipe wait, because they were written without knowing it. */
  onLine(action: (line: TypedLine) => void, onDraft?: (text: string) => void): () => void {
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
  keep(line: TypedLine): void {
    this.#ahead.push(line);
  }

  /** While a turn runs, Ctrl-C cancels it. */
  onInterrupt(action: () => void): () => void {
    this.#interrupts.add(action);
    return () => this.#interrupts.delete(action);
  }

  close(): void {
    process.off("SIGINT", this.#onSignal);
    process.off("exit", this.#onExit);
    (this.#keys ?? this.#input).off("keypress", this.#onKey);
    this.#reader.close();
    this.#keys?.close();
    this.#leavePastes();
    this.#screen.close();
  }

  #openKeys(): PasteInput {
    return new PasteInput({
      source: this.#input,
      clock: this.#clock,
      onPaste: (text) => this.#paste(text),
      onKeys: (keys) => this.#ownKey(keys),
    });
  }

  #edit(prompt: string): Promise<TypedLine | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    this.#raw("on");
    this.#screen.silent = false;
    this.#reader.setPrompt(this.#above.length > 0 && !this.#isAnswer ? CONTINUED : prompt);
    this.#reader.resume();
    if (this.#input.isTTY) this.#reader.prompt(true);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #take(line: string): void {
    if (this.#keys !== undefined && !this.#isAnswer && line.endsWith("\\")) {
      this.#continueAfter(line.slice(0, -1));
      return;
    }
    const input = this.#isAnswer ? { text: line } : this.#whole(line);
    if (this.#waiting !== undefined) this.#resolveLine(input);
    else if (this.#listener !== undefined && !this.#asking) this.#listener(input);
    else this.#ahead.push(input);
  }

  /** The line with those above it, and pastes in full. */
  #whole(line: string): TypedLine {
    const lines = [...this.#above, line];
    this.#above = [];
    const text = lines.map((each) => this.#marks.expand(each)).join("\n");
    return this.#marks.startsWithMark(lines[0] ?? "") ? { text, isWords: true } : { text };
  }

  #continueAfter(line: string): void {
    this.#above.push(line);
    if (this.#waiting === undefined) return;
    this.#reader.setPrompt(CONTINUED);
    this.#reader.prompt();
  }

  /** True for a key that means something else here than for the editor. */
  #ownKey(keys: string): boolean {
    const isEdited = this.#waiting !== undefined || this.#onDraft !== undefined;
    if (!isEdited || this.#isAnswer) return false;
    if (keys.includes("\r")) this.#sendsReturn = true;
    const [, before = "", newline] = NEWLINE_KEY.exec(keys) ?? [];
    // A program that drives this one may end its lines with a line feed; a terminal ends them with a return.
    if (newline !== undefined && (newline !== "\n" || before === "" || this.#sendsReturn)) {
      this.#keys?.emit("data", `${before}\x05\\\r`);
      return true;
    }
    const mark = DELETE_KEYS.has(keys)
      ? this.#marks.endingMark(this.#reader.line.slice(0, this.#reader.cursor))
      : undefined;
    if (mark === undefined) return false;
    this.#keys?.emit("data", "\x7f".repeat(mark.length));
    return true;
  }

  #paste(pasted: string): void {
    const text = cleanPaste(pasted);
    this.#reader.write(this.#isAnswer ? text.replace(/\n+/g, " ").trim() : this.#marks.shown(text));
    this.#reportDraft();
  }

  #markPastes(): void {
    if (this.#marksPastes || !process.stderr.isTTY) return;
    this.#marksPastes = true;
    process.stderr.write(MARK_PASTES);
  }

  #leavePastes(): void {
    if (!this.#marksPastes) return;
    this.#marksPastes = false;
    process.stderr.write(LEAVE_PASTES);
  }

  #resolveLine(line: TypedLine | undefined): void {
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

  #reportDraft(): void {
    if (this.#waiting !== undefined || this.#closed) return;
    const above = this.#above.length > 0 ? `${firstLine(this.#above.join("\n"))} … ` : "";
    this.#onDraft?.(above + this.#reader.line);
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
    if (!this.#input.isTTY) return;
    (this.#input as ReadStream).setRawMode(state === "on");
    if (state === "on") this.#markPastes();
    else this.#leavePastes();
  }

  #interrupt(): void {
    if (this.#interrupts.size > 0) {
      for (const action of [...this.#interrupts]) action();
      return;
    }
    if (this.#waiting === undefined) return;
    const isEmpty = this.#reader.line === "" && this.#above.length === 0;
    process.stderr.write(`${isEmpty ? "(Ctrl-D or /exit leaves)" : ""}\n`);
    this.#above = [];
    this.#resolveLine({ text: "" });
    // The half-typed line is given up; a new prompt starts clean.
    this.#reader.write(null, { ctrl: true, name: "u" });
  }
}
