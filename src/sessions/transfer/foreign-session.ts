/**
 * A conversation from another program, in the middle between its file and our events. Readers of formats fill it through
 * `ForeignTurns`, which decides where turns begin and end; `foreign-events.ts` writes it down.
 */
import type { ImageBlock, OpaqueBlock, ResultContent, TextBlock } from "../../protocol/content.js";
import { text } from "../../protocol/content.js";
import type { Failure } from "../../protocol/errors.js";
import type { ToolStatus } from "../../protocol/events.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { NO_USAGE, type Usage } from "../../protocol/usage.js";

export interface ForeignSession {
  readonly provider: string;
  readonly model: string;
  readonly cwd?: string;
  readonly startedAt?: string;
  readonly title?: string;
  readonly turns: readonly ForeignTurn[];
}

/** Times are absent if the file has none: the time of the event before applies. */
export interface ForeignTurn {
  readonly at: string | undefined;
  input: ResultContent[];
  readonly parts: ForeignPart[];
  /** The name that ended it before its answer was complete. */
  cancelledBy?: string;
  endedAt?: string | undefined;
}

export type ForeignPart = ForeignAnswer | ForeignCompaction | ForeignFailure;

export interface ForeignAnswer {
  readonly type: "answer";
  /** The name by which the file calls it: the pieces of one answer share this. */
  readonly key: string;
  readonly blocks: ForeignBlock[];
  model: string;
  usage: Usage;
  startedAt: string | undefined;
  endedAt: string | undefined;
  truncated?: true;
}

export interface ForeignCompaction {
  readonly type: "compaction";
  readonly at: string | undefined;
  readonly reason: string;
  readonly summary: string;
}

export interface ForeignFailure {
  readonly type: "failure";
  readonly at: string | undefined;
  readonly failure: Failure;
}

export type ForeignBlock = TextBlock | ForeignThinking | ForeignCall | OpaqueBlock;

export interface ForeignThinking {
  readonly type: "thinking";
  readonly text: string;
  readonly provider: string;
  readonly opaque?: JsonValue;
}

export interface ForeignCall {
  readonly type: "call";
  /** As the file has it; unique there. */
  readonly id: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly malformed?: string;
  result?: ForeignResult;
}

export interface ForeignResult {
  readonly status: ToolStatus;
  readonly content: readonly ResultContent[];
  readonly at: string | undefined;
}

const NOTHING_RECORDED = "[No input was recorded.]";

/**
 * Puts what a file says, in its order, into turns.
 *
 * 1. A turn begins with an input. Inputs that follow each other without an answer in between are one.
 * 2. An answer without an input gets its own turn, so every answer is in a turn.
 * 3. What a program told the model in between (context) goes where the model saw it: into the input that is still without an
 *    answer, beside the results of the last calls, or in front of the next input.
 */
export class ForeignTurns {
  readonly turns: ForeignTurn[] = [];
  #open: ForeignTurn | undefined;
  /** The open turn is a command that may never have reached the model. */
  #tentative = false;
  #context: ResultContent[] = [];

  input(content: readonly ResultContent[], at: string | undefined): void {
    if (this.#tentative) this.dropTentative();
    if (content.length === 0) return;
    const open = this.#open;
    if (open !== undefined && open.parts.length === 0 && open.cancelledBy === undefined) {
      open.input.push(...content);
      return;
    }
    this.#begin([...this.#context.splice(0), ...content], at);
  }

  /** An input that counts only if an answer follows. */
  tentativeInput(content: readonly ResultContent[], at: string | undefined): void {
    if (this.#tentative) this.dropTentative();
    if (this.#open?.parts.length === 0) {
      this.context(content);
      return;
    }
    this.#begin([...content], at);
    this.#tentative = true;
  }

  dropTentative(): void {
    if (!this.#tentative) return;
    this.#tentative = false;
    this.turns.pop();
    this.#open = this.turns.at(-1);
  }

  context(content: readonly ResultContent[]): void {
    const last = this.#open?.parts.at(-1);
    if (this.#open !== undefined && last === undefined) {
      this.#open.input.push(...content);
      return;
    }
    const call = last?.type === "answer" ? lastCall(last) : undefined;
    if (call?.result === undefined || this.#open?.cancelledBy !== undefined) this.#context.push(...content);
    else call.result = { ...call.result, content: [...call.result.content, ...content] };
  }

  /** The answer with this key, begun if the last part is not it. */
  answer(key: string, model: string, at: string | undefined): ForeignAnswer {
    const last = this.#open?.parts.at(-1);
    if (last?.type === "answer" && last.key === key) {
      last.endedAt = at ?? last.endedAt;
      return last;
    }
    const open = this.#open;
    const isNew = open === undefined || open.cancelledBy !== undefined;
    if (isNew || (open.parts.length > 0 && this.#context.length > 0)) {
      this.#begin(this.#context.length > 0 ? this.#context : [text(NOTHING_RECORDED)], at);
    } else {
      open.input.unshift(...this.#context);
    }
    this.#context = [];
    this.#tentative = false;
    const answer: ForeignAnswer = {
      type: "answer",
      key,
      blocks: [],
      model,
      usage: NO_USAGE,
      startedAt: at,
      endedAt: at,
    };
    this.#open?.parts.push(answer);
    return answer;
  }

  /** The newest answer, when nothing came after it. */
  get lastAnswer(): ForeignAnswer | undefined {
    const last = this.#open?.parts.at(-1);
    return last?.type === "answer" ? last : undefined;
  }

  failure(failure: Failure, at: string | undefined): void {
    this.#tentative = false;
    this.#open?.parts.push({ type: "failure", at, failure });
  }

  /** A summary replaces everything before it; with nothing before it, it becomes part of the next input. */
  compaction(summary: string, reason: string, at: string | undefined): void {
    this.dropTentative();
    this.#context = [];
    if (this.#open === undefined) this.#context.push(text(summary));
    else this.#open.parts.push({ type: "compaction", at, reason, summary });
  }

  cancel(by: string, at: string | undefined): void {
    if (this.#open === undefined || this.#tentative) return;
    this.#open.cancelledBy ??= by;
    this.#open.endedAt = at;
  }

  ended(at: string | undefined): void {
    if (this.#open !== undefined) this.#open.endedAt = at;
  }

  /** The last turns never happened. */
  rollBack(count: number): void {
    this.dropTentative();
    this.turns.splice(Math.max(0, this.turns.length - count));
    this.#open = this.turns.at(-1);
    this.#context = [];
  }

  end(): readonly ForeignTurn[] {
    this.dropTentative();
    return this.turns;
  }

  #begin(input: ResultContent[], at: string | undefined): void {
    this.#open = { at, input, parts: [] };
    this.turns.push(this.#open);
  }
}

export function lastCall(answer: ForeignAnswer): ForeignCall | undefined {
  return answer.blocks.findLast((block) => block.type === "call");
}

/** `data:image/png;base64,…` */
export function imageFromUrl(url: string): ImageBlock | undefined {
  const match = /^data:(image\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]+={0,2})$/i.exec(url);
  return match === null ? undefined : { type: "image", media_type: match[1] ?? "", data: match[2] ?? "" };
}
