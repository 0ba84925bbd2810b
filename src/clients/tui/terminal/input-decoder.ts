/**
 * Turns the bytes of a terminal into keys and pastes.
 *
 * 1. A paste is one block, however many reads it takes. In a terminal without bracketed paste, a line break with text after it in the
 *    same read is a paste, because no person types that fast. Its line breaks are never Enter.
 * 2. Answers of the terminal go to `onAnswer` and are never keys.
 * 3. A cut sequence or character waits for its end. These waits are the only timers.
 */
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "../../../base/clock.js";
import { characters } from "../../../base/text-width.js";
import { cutInput, type InputPiece, isAnswer } from "./input-sequences.js";
import { nameKey } from "./key-name.js";
import type { TerminalInput } from "./terminal.js";

export interface InputDecoderOptions {
  readonly clock: Clock;
  /** Over a network the parts of a sequence may arrive separately. */
  readonly isRemote?: boolean;
  readonly onInput: (input: TerminalInput) => void;
  readonly onAnswer: (sequence: string) => void;
}

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** A lone Escape is the key if nothing follows within this time. */
const ESCAPE_WAIT_MS = 30;
const REMOTE_ESCAPE_WAIT_MS = 100;
/** Alt-[ and similar keys also look like the start of a sequence. */
const ALT_WAIT_MS = 60;
/** No key begins like this: it is an answer or a paste, and the rest may come slowly. */
const SEQUENCE_WAIT_MS = 1000;
/** After this time without a byte, the end of a paste is lost. */
const PASTE_WAIT_MS = 10_000;
const BURST_WAIT_MS = 20;
/** A long paste comes in many reads, with pauses on a busy machine. */
const LONG_BURST = 1024;
const LONG_BURST_WAIT_MS = 200;
/** How long an Enter that came together with text waits for more text. */
const ENTER_WAIT_MS = 10;
/** More characters than a person types between two reads. */
const MOST_TYPED = 64;

type Mode = "keys" | "paste" | "burst";

export class InputDecoder {
  readonly #options: InputDecoderOptions;
  #utf8 = new StringDecoder("utf8");
  #mode: Mode = "keys";
  /** In mode `keys` the start of a sequence, or an Enter that waits. Otherwise the collected text. */
  #held: string[] = [];
  /** The last characters of an unfinished paste. */
  #tail = "";
  #cancelWait: (() => void) | undefined;

  constructor(options: InputDecoderOptions) {
    this.#options = options;
  }

  push(bytes: Buffer): void {
    const text = this.#utf8.write(bytes);
    if (text !== "") this.#take(text);
  }

  /** Drops incomplete input, before another program reads the terminal. */
  reset(): void {
    this.#stopWaiting();
    this.#utf8 = new StringDecoder("utf8");
    this.#mode = "keys";
    this.#held = [];
    this.#tail = "";
  }

  #take(text: string): void {
    this.#stopWaiting();
    const mode = this.#mode;
    if (mode === "paste") this.#takePaste(text);
    else if (mode === "burst" && !text.includes(PASTE_START)) this.#takeBurst(text);
    else {
      if (mode === "burst") this.#endBurst();
      this.#takeKeys(this.#release() + text);
    }
  }

  #takeKeys(text: string): void {
    const start = text.indexOf(PASTE_START);
    if (start === -1) {
      this.#takeTyped(text);
      return;
    }
    this.#emitPieces(cutInput(text.slice(0, start)).pieces);
    this.#mode = "paste";
    this.#takePaste(text.slice(start + PASTE_START.length));
  }

  #takeTyped(text: string): void {
    const { pieces, rest } = cutInput(text);
    const last = pieces.at(-1);
    if (pieces.some((piece) => piece.kind === "text" && isBurst(piece.text))) {
      const burst = pieces.findIndex((piece) => piece.kind === "text");
      this.#emitPieces(pieces.slice(0, burst));
      this.#mode = "burst";
      this.#takeBurst(pieces.slice(burst).reduce((all, piece) => all + piece.text, "") + rest);
    } else if (rest === "" && last?.kind === "text" && /[^\r\n]{2}\r$/.test(last.text)) {
      this.#emitPieces([...pieces.slice(0, -1), { kind: "text", text: last.text.slice(0, -1) }]);
      this.#hold("\r", ENTER_WAIT_MS);
    } else {
      this.#emitPieces(pieces);
      if (rest !== "") this.#hold(rest, this.#waitFor(rest));
    }
  }

  #takePaste(text: string): void {
    // The end mark may be split, so the last characters are searched together with the new ones.
    const seen = this.#tail + text;
    const found = seen.indexOf(PASTE_END);
    this.#held.push(text);
    this.#tail = seen.slice(1 - PASTE_END.length);
    if (found === -1) {
      this.#wait(PASTE_WAIT_MS, () => this.#endPaste());
      return;
    }
    const all = this.#release();
    const end = all.length - seen.length + found;
    this.#held = [all.slice(0, end)];
    this.#endPaste();
    const rest = all.slice(end + PASTE_END.length);
    if (rest !== "") this.#takeKeys(rest);
  }

  #endPaste(): void {
    this.#mode = "keys";
    this.#tail = "";
    this.#options.onInput({ kind: "paste", text: normalBreaks(this.#release()) });
  }

  #takeBurst(text: string): void {
    this.#held.push(text);
    const isLong = this.#held.length > 1 || text.length > LONG_BURST;
    this.#wait(isLong ? LONG_BURST_WAIT_MS : BURST_WAIT_MS, () => this.#endBurst());
  }

  #endBurst(): void {
    this.#mode = "keys";
    const all = this.#release();
    const text = normalBreaks(
      cutInput(all)
        .pieces.map((piece) => (piece.kind === "text" ? piece.text : ""))
        .join(""),
    );
    // One long line and Enter comes from a program that types for the user, not from a paste of lines.
    const isLine = text.endsWith("\n") && text.indexOf("\n") === text.length - 1;
    this.#options.onInput({ kind: "paste", text: isLine ? text.slice(0, -1) : text });
    if (isLine) this.#emitKey("\r");
  }

  #hold(text: string, ms: number): void {
    this.#held = [text];
    this.#wait(ms, () => {
      const held = this.#release();
      // The start of an incomplete answer is not a key.
      if (!isAnswer(held)) this.#emitKey(held);
    });
  }

  #release(): string {
    const held = this.#held.length === 1 ? (this.#held[0] ?? "") : this.#held.join("");
    this.#held = [];
    return held;
  }

  #emitPieces(pieces: readonly InputPiece[]): void {
    for (const { kind, text } of pieces) {
      if (kind === "text") for (const key of characters(text)) this.#emitKey(key);
      else if (isAnswer(text)) this.#options.onAnswer(text);
      else this.#emitKey(text);
    }
  }

  #emitKey(data: string): void {
    const key = nameKey(data);
    if (key !== undefined) this.#options.onInput({ kind: "key", ...key });
  }

  #waitFor(rest: string): number {
    if (rest.length > 2) return SEQUENCE_WAIT_MS;
    if (this.#options.isRemote === true) return REMOTE_ESCAPE_WAIT_MS;
    return rest.length === 1 ? ESCAPE_WAIT_MS : ALT_WAIT_MS;
  }

  #wait(ms: number, action: () => void): void {
    this.#cancelWait = this.#options.clock.after(ms, () => {
      this.#cancelWait = undefined;
      action();
    });
  }

  #stopWaiting(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
  }
}

/** Text after a line break, or more text than a person types, in one read. Several Enters alone are keys. */
function isBurst(text: string): boolean {
  if (text.length > MOST_TYPED) return true;
  return /[\r\n]/.test(text) && /[^\r\n]/.test(text) && /[\r\n](?!\n?$)/.test(text.replaceAll("\r\n", "\n"));
}

function normalBreaks(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}
