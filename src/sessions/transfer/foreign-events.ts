/**
 * Writes a foreign conversation as the events that our own run would have written.
 *
 * 1. Every turn has one TurnStarted and one TurnEnded; every call one ToolCallStarted and one ToolResult, in the model's order.
 * 2. Ids count up from 1, times never go back.
 * 3. Ids of turns and calls follow from the file's and the new log's: the same file in the same log gives the same events.
 */
import { type InputContent, plainText, text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { AnswerBlock, AnswerShape, EventKind, EventPayloads, StopReason } from "../../protocol/events.js";
import type { ClientId, TurnId } from "../../protocol/ids.js";
import { addUsage, NO_USAGE } from "../../protocol/usage.js";
import { derivedId, type SessionIds } from "../branch.js";
import {
  type ForeignAnswer,
  type ForeignBlock,
  type ForeignCall,
  type ForeignFailure,
  type ForeignSession,
  type ForeignTurn,
  lastCall,
} from "./foreign-session.js";

export interface WriteOptions extends SessionIds {
  readonly client: ClientId;
  /** The session's time, for events before the first time in the file. */
  readonly startedAt: string;
}

export async function* foreignEvents(session: ForeignSession, options: WriteOptions): AsyncGenerator<Envelope> {
  const writer = new Writer(session.provider, options);
  for (const [index, turn] of session.turns.entries()) yield* writer.turn(turn, index + 1);
}

class Writer {
  readonly #provider: string;
  readonly #options: WriteOptions;
  #id = 0;
  #time: string;
  /** A file in which two calls share an id still gives each its own. */
  readonly #calls = new Set<string>();

  constructor(provider: string, options: WriteOptions) {
    this.#provider = provider;
    this.#options = options;
    this.#time = options.startedAt;
  }

  *turn(turn: ForeignTurn, number: number): Generator<Envelope> {
    const id = derivedId("turn", String(number), this.#options.log);
    yield this.#event("TurnStarted", { turn: id, input: turn.input }, turn.at);
    let usage = NO_USAGE;
    for (const part of turn.parts) {
      if (part.type === "answer") {
        usage = addUsage(usage, part.usage);
        yield* this.#answer(part, { turn: id, isCutOff: isCutOff(turn, part) });
      } else if (part.type === "compaction") {
        const { reason, summary, at } = part;
        yield this.#event("CompactionTriggered", { turn: id, reason, summary }, at);
      } else {
        yield this.#event("Error", { ...part.failure, turn: id }, part.at);
      }
    }
    const result = ending(turn);
    if (result.outcome === "cancelled") {
      yield this.#event("Cancelled", { turn: id, by: turn.cancelledBy ?? "end of the transcript" }, turn.endedAt);
    }
    const answers = turn.parts.filter((part) => part.type === "answer");
    yield this.#event("TurnEnded", { turn: id, ...result, iterations: answers.length, usage }, turn.endedAt);
  }

  *#answer(answer: ForeignAnswer, about: { turn: TurnId; isCutOff: boolean }): Generator<Envelope> {
    const began = Date.parse(this.#time);
    const shape: AnswerBlock[] = [];
    const calls: { readonly call: ReturnType<Writer["callId"]>; readonly block: ForeignCall }[] = [];
    for (const block of answer.blocks) {
      if (block.type === "call") {
        const call = this.callId(block.id);
        calls.push({ call, block });
        yield this.#event("ToolCallStarted", { call, tool: block.tool, args: block.args }, answer.endedAt);
        shape.push({ type: "tool_use", call, ...(block.malformed !== undefined && { malformed: block.malformed }) });
      } else if (block.type === "opaque") {
        shape.push(block);
      } else {
        yield this.#delta(block, answer.startedAt);
        shape.push({ type: block.type, deltas: 1 });
      }
    }
    const ended = answer.endedAt === undefined ? began : Date.parse(answer.endedAt);
    const made: AnswerShape = {
      ...(!isPlain(answer.blocks) && { blocks: shape }),
      ...(about.isCutOff && { interrupted: true as const }),
    };
    const { model, usage } = answer;
    const by = { turn: about.turn, provider: this.#provider, model };
    yield this.#event("AnswerEnded", { ...by, ...stopOf(answer, about), ...made }, answer.endedAt);
    yield this.#event("CostIncremented", { ...by, usage, elapsed_ms: Math.max(0, ended - began) }, answer.endedAt);
    for (const { call, block } of calls) {
      const { status, content, at } = block.result ?? LOST;
      yield this.#event("ToolResult", { call, tool: block.tool, status, content }, at);
    }
  }

  #delta(block: Extract<ForeignBlock, { type: "text" | "thinking" }>, at: string | undefined): Envelope {
    if (block.type === "text") return this.#event("TextDelta", { text: block.text }, at);
    const { type: _type, ...thought } = block;
    return this.#event("ThinkingDelta", thought, at);
  }

  callId(old: string) {
    let name = old;
    for (let again = 2; this.#calls.has(name); again++) name = `${old}#${again}`;
    this.#calls.add(name);
    return derivedId("call", name, this.#options.log);
  }

  #event<K extends EventKind>(kind: K, payload: EventPayloads[K], at: string | undefined): Envelope {
    if (at !== undefined && at > this.#time) this.#time = at;
    const { session, client } = this.#options;
    return { id: ++this.#id, kind, session, originator: client, ts: this.#time, payload } as Envelope;
  }
}

const LOST = {
  status: "cancelled",
  content: [text("The transcript holds no result of this call.")],
  at: undefined,
} as const;

/** Thinking, then text, at most one block of each, then calls: what the deltas alone say. */
function isPlain(blocks: readonly ForeignBlock[]): boolean {
  const order = blocks.map((block) => {
    if (block.type === "call") return block.malformed === undefined ? "c" : "x";
    return block.type === "thinking" ? "h" : block.type === "text" ? "t" : "x";
  });
  return /^h?t?c*$/.test(order.join(""));
}

function isCutOff(turn: ForeignTurn, answer: ForeignAnswer): boolean {
  return turn.cancelledBy !== undefined && turn.parts.at(-1) === answer && lastCall(answer) === undefined;
}

function stopOf(answer: ForeignAnswer, { isCutOff }: { readonly isCutOff: boolean }): { readonly stop?: StopReason } {
  if (isCutOff) return {};
  if (answer.truncated) return { stop: "length" };
  return { stop: lastCall(answer) === undefined ? "end" : "tool_calls" };
}

type Ending = Pick<EventPayloads["TurnEnded"], "outcome" | "text" | "truncated" | "failure">;

function ending(turn: ForeignTurn): Ending {
  const spoken = turn.parts.filter((part): part is ForeignAnswer | ForeignFailure => part.type !== "compaction");
  const last = spoken.at(-1);
  const answer = spoken.findLast((part) => part.type === "answer");
  const words = plainText(answer?.blocks ?? []);
  if (turn.cancelledBy !== undefined) return { outcome: "cancelled", text: words };
  if (last?.type === "failure") return { outcome: "failed", text: words, failure: last.failure };
  if (last === undefined || lastCall(last) !== undefined) return { outcome: "cancelled", text: words };
  return { outcome: "answered", text: words, ...(last.truncated && { truncated: true as const }) };
}

/** The first input in it. */
export function firstInput(turns: readonly ForeignTurn[]): string {
  const input: readonly InputContent[] = turns[0]?.input ?? [];
  return plainText(input);
}
