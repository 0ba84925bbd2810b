/**
 * Joins one answer from several attempts: text before a broken stream is neither repeated nor
 * lost.
 *
 * 1. An attempt that repeats the text of the one before publishes nothing until new text arrives; from there on its events pass.
 * 2. If an attempt differs, the old text is withdrawn first, and the attempt starts from its beginning.
 * 3. The end of a text block is published with what follows it: a stream that breaks there may have had more text.
 * 4. Events are held until it is clear which of the two cases applies. An attempt that fails before that publishes nothing.
 */
import type { ModelBlock, ModelEvent } from "../../engine/ports.js";
import type { FailureReason } from "../../protocol/errors.js";

type Words = { readonly type: "text" | "thinking"; text: string };
type Piece = Words | { readonly type: "block"; readonly block: ModelBlock };

export class ShownAnswer {
  /** The published content, with deltas of one kind joined. */
  #shown: Piece[] = [];
  /** The events of an attempt that repeats published content; undefined once it differs. */
  #held: ModelEvent[] | undefined;
  /** Says how much it has repeated: whole pieces, and characters of the next one. */
  #piece = 0;
  #characters = 0;
  #reason: FailureReason = "StreamInterrupted";
  #calls = 0;
  /** The end of a block of text, until something follows. */
  #pending: ModelEvent | undefined;

  /** Published calls: they may be running. */
  get calls(): number {
    return this.#calls;
  }

  get isEmpty(): boolean {
    return this.#shown.length === 0;
  }

  /** Another attempt begins, after one that failed for this reason. */
  restart(reason: FailureReason): void {
    this.#held = this.isEmpty ? undefined : [];
    this.#piece = this.#characters = 0;
    this.#reason = reason;
    this.#pending = undefined;
  }

  /** The end of the answer, after the last attempt. */
  end(): readonly ModelEvent[] {
    const out: ModelEvent[] = [];
    if (this.#held === undefined) this.#flush(out);
    return out;
  }

  /** The events to publish now. */
  take(events: readonly ModelEvent[]): readonly ModelEvent[] {
    const out: ModelEvent[] = [];
    for (const event of events) this.#take(event, out);
    // Usually the events themselves.
    return out.length === events.length && out.every((event, i) => event === events[i]) ? events : out;
  }

  #take(event: ModelEvent, out: ModelEvent[]): void {
    if (event.type === "retract") this.#forget(event, out);
    else if (this.#held === undefined) this.#emit(event, out);
    else if (event.type === "text" || event.type === "thinking") this.#takeWords(event, out);
    else if (event.type === "block") this.#takeBlock(event, out);
    // The end of an answer that is shorter than the one before.
    else if (event.type === "stop" && !this.#isCaughtUp()) this.#retract(event, out);
    else if (event.type === "stop") this.#pass(event, out);
    else out.push(event);
  }

  #emit(event: ModelEvent, out: ModelEvent[]): void {
    // A token count contains no text.
    if (event.type !== "usage") this.#flush(out);
    if (event.type === "block" && event.block.type === "text") this.#pending = event;
    else {
      this.#remember(event);
      out.push(event);
    }
  }

  #flush(out: ModelEvent[]): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    this.#remember(pending);
    out.push(pending);
  }

  #takeWords(event: ModelEvent & Words, out: ModelEvent[]): void {
    const piece = this.#shown[this.#piece];
    if (event.text === "") return;
    if (this.#isCaughtUp()) this.#pass(event, out);
    else if (piece?.type === event.type) this.#compare(event, piece, out);
    else this.#retract(event, out);
  }

  #compare(event: ModelEvent & Words, piece: Words, out: ModelEvent[]): void {
    const rest = piece.text.slice(this.#characters);
    // Only the last published text may continue.
    const isLast = this.#piece === this.#shown.length - 1;
    if (rest.startsWith(event.text)) {
      this.#held?.push(event);
      this.#characters += event.text.length;
    } else if (isLast && event.text.startsWith(rest)) {
      this.#pass({ type: event.type, text: event.text.slice(rest.length) }, out);
    } else {
      this.#retract(event, out);
    }
  }

  #takeBlock(event: ModelEvent & { readonly type: "block" }, out: ModelEvent[]): void {
    const piece = this.#shown[this.#piece];
    // The deltas of this block, if it had any, have already been compared.
    const at = piece?.type !== "block" && this.#isWordsOver(piece) ? this.#piece + 1 : this.#piece;
    const shown = this.#shown[at];
    if (this.#isCaughtUp()) this.#pass(event, out);
    else if (shown?.type === "block" && isSame(shown.block, event.block)) {
      this.#piece = at + 1;
      this.#characters = 0;
      this.#held?.push(event);
    } else {
      this.#retract(event, out);
    }
  }

  #isWordsOver(piece: Words | undefined): boolean {
    return piece !== undefined && piece.text.length === this.#characters;
  }

  #isCaughtUp(): boolean {
    if (this.#piece >= this.#shown.length) return true;
    const piece = this.#shown[this.#piece];
    return this.#piece === this.#shown.length - 1 && piece?.type !== "block" && this.#isWordsOver(piece);
  }

  #pass(event: ModelEvent, out: ModelEvent[]): void {
    this.#held = undefined;
    this.#take(event, out);
  }

  #retract(event: ModelEvent, out: ModelEvent[]): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#shown = [];
    out.push({ type: "retract", reason: this.#reason });
    for (const each of held) this.#take(each, out);
    this.#take(event, out);
  }

  /** A nested attempt has withdrawn its own text. Text that was never shown needs no event. */
  #forget(event: ModelEvent & { readonly type: "retract" }, out: ModelEvent[]): void {
    if (this.#held !== undefined) {
      this.#held = [];
      this.#piece = this.#characters = 0;
      return;
    }
    this.#shown = [];
    this.#pending = undefined;
    out.push(event);
  }

  #remember(event: ModelEvent): void {
    if (event.type === "block") {
      if (event.block.type === "tool_call") this.#calls++;
      this.#shown.push(event);
    } else if (event.type === "text" || event.type === "thinking") {
      const last = this.#shown.at(-1);
      if (last?.type === event.type) last.text += event.text;
      else if (event.text !== "") this.#shown.push({ type: event.type, text: event.text });
    }
  }
}

function isSame(a: ModelBlock, b: ModelBlock): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
