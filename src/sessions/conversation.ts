/**
 * The conversation rebuilt from a session's events: what the model would be sent if the run had never ended.
 *
 * 1. Rebuilt messages equal those of the live run, except secrets, which the log does not contain, and thinking that was cut
 *    off, which no provider accepts.
 * 2. Every call has its result, except those named in `open`: the last answer's, when the log ends before they did.
 * 3. Calls outside a turn (a command that the person typed) are not part of it.
 */

import { originOf, withOrigin } from "../base/message-origin.js";
import {
  type AssistantMessage,
  type InputContent,
  inputMessage,
  type Message,
  type ToolResultBlock,
  type ToolUseBlock,
  text,
} from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventPayloads } from "../protocol/events.js";
import type { CallId, TurnId } from "../protocol/ids.js";
import { addUsage, NO_USAGE, type Usage } from "../protocol/usage.js";
import { AnswerFold, FoldedAnswer } from "./answer-fold.js";

export interface OpenCall {
  readonly call: CallId;
  readonly tool: string;
  readonly args: ToolUseBlock["args"];
}

export interface UnfinishedTurn {
  readonly turn: TurnId;
  readonly text: string;
  readonly iterations: number;
  readonly usage: Usage;
}

export interface RebuiltConversation {
  /** The last answer's results are missing while `open` names calls; `withResults` adds them. */
  readonly messages: readonly Message[];
  readonly open: readonly OpenCall[];
  /** The turn that was being worked on when the log ended. */
  readonly unfinished?: UnfinishedTurn;
  /** Inputs that were accepted while a turn ran and that no turn has taken. */
  readonly waiting: readonly (readonly InputContent[])[];
  /** 0 when there are none. */
  readonly lastEvent: number;
  readonly turns: number;
}

export interface RebuildOptions {
  /** The first event is in the middle of a turn: that of a message which a later summary keeps. */
  readonly withinTurn?: boolean;
  /** Inputs of the turn that is open now, from before the first event. */
  readonly before?: AsyncIterable<Envelope>;
  /** The conversation before the first event. */
  readonly messages?: readonly Message[];
  /** The event after which a branch was cut: what waited there belongs to the original. */
  readonly branchedAt?: number | undefined;
}

export async function rebuildConversation(
  events: AsyncIterable<Envelope>,
  options: RebuildOptions = {},
): Promise<RebuiltConversation> {
  const builder = await ConversationBuilder.begin(options);
  for await (const event of events) builder.take(event);
  return builder.end();
}

export class ConversationBuilder {
  #messages: Message[];
  readonly #answers = new AnswerFold(
    (at) => new Answer(at),
    (answer) => this.#push(answer),
  );
  #turn: { turn: TurnId; text: string; iterations: number; usage: Usage } | undefined;
  #waiting: EventPayloads["InputQueued"][] = [];
  #turns = 0;
  #lastEvent = 0;
  readonly #branchedAt: number | undefined;

  constructor({ withinTurn = false, messages = [], branchedAt }: RebuildOptions = {}) {
    this.#messages = [...messages];
    this.#branchedAt = branchedAt;
    // Its name comes with the summary, if the turn continues after that.
    if (withinTurn) this.#turn = newTurn("turn_");
  }

  static async begin(options: RebuildOptions): Promise<ConversationBuilder> {
    const builder = new ConversationBuilder(options);
    for await (const event of options.before ?? []) builder.takeWaiting(event);
    return builder;
  }

  /** Between two turns, and nothing waits: later events do not depend on earlier ones. */
  get isIdle(): boolean {
    return this.#turn === undefined && this.#answers.answer === undefined && this.#waiting.length === 0;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get turns(): number {
    return this.#turns;
  }

  take(event: Envelope): void {
    this.#lastEvent = event.id;
    this.takeWaiting(event);
    const change = this.#answers.take(event, { inTurn: this.#turn !== undefined });
    if (typeof change === "object") this.#ended();
    if (event.kind === "TurnStarted") this.#start(event.payload);
    else if (event.kind === "CompactionTriggered") this.#compact(event.payload);
    else if (this.#turn !== undefined) this.#takeInTurn(event);
  }

  /**
   * Tracks only waiting inputs. An input waits until an event says that a turn took it or that it was dropped: the end of a
   * turn takes none. A turn that begins without a waiting input shows that none waited. Inputs may also come between two turns, while
   * other work on the conversation runs.
   */
  takeWaiting(event: Envelope): void {
    switch (event.kind) {
      case "TurnStarted":
        this.#waiting.splice(0, event.payload.queued || this.#waiting.length);
        return;
      case "InputQueued":
        this.#waiting.push(event.payload);
        return;
      case "InputDropped":
        for (const input of event.payload.inputs) {
          this.#waiting = withoutFirst(this.#waiting, (each) => isSame(each.input, input));
        }
        return;
      case "InputSteered":
        this.#waiting = withoutFirst(this.#waiting, ({ delivery }) => delivery === "steer");
        return;
      case "TurnEnded":
        if (this.#branchedAt !== undefined && event.id === this.#branchedAt) this.#waiting = [];
    }
  }

  #takeInTurn(event: Envelope): void {
    switch (event.kind) {
      case "ToolResult":
        this.#answers.answer?.results.set(event.payload.call, resultBlock(event.payload));
        return;
      case "InputSteered":
        this.#settle();
        this.#messages.push(withOrigin({ role: "user", content: event.payload.input }, event.id));
        return;
      case "CostIncremented":
        this.#pay(event.payload.usage);
        return;
      case "TurnEnded":
        this.#settle();
        this.#turn = undefined;
        return;
    }
  }

  end(): RebuiltConversation {
    const { answer } = this.#answers;
    const open = answer === undefined ? [] : answer.calls.filter(({ call }) => !answer.results.has(call));
    const unfinished = this.#turn;
    if (unfinished !== undefined && answer !== undefined) unfinished.text = answer.texts.join("");
    this.#settle({ keepOpen: true });
    return {
      messages: this.#messages,
      open: open.map(({ call, tool, args }) => ({ call, tool, args })),
      ...(unfinished !== undefined && { unfinished }),
      waiting: this.#waiting.map(({ input }) => input),
      lastEvent: this.#lastEvent,
      turns: this.#turns,
    };
  }

  #start({ turn, input, notice }: EventPayloads["TurnStarted"]): void {
    this.#settle();
    this.#turns++;
    this.#turn = newTurn(turn);
    this.#messages.push(withOrigin(inputMessage(input, notice), this.#lastEvent));
  }

  #compact({ summary, turn, kept_from: from = Number.POSITIVE_INFINITY }: EventPayloads["CompactionTriggered"]): void {
    if (summary === undefined) return;
    this.#settle();
    // A reader that starts here has not seen the start of the turn.
    if (turn !== undefined) this.#turn = { ...(this.#turn ?? newTurn(turn)), turn };
    // Results of calls have no origin; an earlier summary has none either, as it is part of this one.
    const first = this.#messages.findIndex((message) => (originOf(message) ?? 0) >= from);
    const kept = first === -1 ? [] : this.#messages.slice(first);
    this.#messages = [{ role: "user", content: [text(summary)] }, ...kept];
  }

  #ended(): void {
    if (this.#turn === undefined) return;
    this.#turn.iterations++;
    this.#turn.text = this.#answers.answer?.texts.join("") ?? "";
  }

  #pay(usage: Usage): void {
    if (this.#turn !== undefined) this.#turn.usage = addUsage(this.#turn.usage, usage);
  }

  #settle({ keepOpen = false }: { readonly keepOpen?: boolean } = {}): void {
    const answer = this.#answers.leave();
    if (answer !== undefined) this.#push(answer, { keepOpen });
  }

  #push(answer: Answer, { keepOpen = false }: { readonly keepOpen?: boolean } = {}): void {
    const message = answer.message();
    if (message.content.length === 0) return;
    this.#messages.push(withOrigin(message, answer.at));
    const calls = message.content.filter((block) => block.type === "tool_use");
    const results = calls.flatMap((call) => answer.results.get(call.call) ?? (keepOpen ? [] : [lostResult(call)]));
    if (results.length > 0) this.#messages.push({ role: "user", content: results });
  }
}

function isSame(a: readonly InputContent[], b: readonly InputContent[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function withoutFirst<T>(items: readonly T[], wanted: (item: T) => boolean): T[] {
  const at = items.findIndex(wanted);
  return items.filter((_, index) => index !== at);
}

function newTurn(turn: TurnId) {
  return { turn, text: "", iterations: 0, usage: NO_USAGE };
}

/** The results of the last answer with those that were missing, in the model's order. */
export function withResults(
  { messages, open }: RebuiltConversation,
  found: ReadonlyMap<CallId, ToolResultBlock>,
): readonly Message[] {
  if (open.length === 0) return messages;
  const answerAt = messages.findLastIndex(
    ({ role, content }) =>
      role === "assistant" && content.some((block) => block.type === "tool_use" && isOpen(block, open)),
  );
  // Its content has expired: there is no call in the conversation that a result could answer.
  if (answerAt === -1) return messages;
  const answer = messages[answerAt] as AssistantMessage;
  const known = new Map(found);
  for (const block of messages[answerAt + 1]?.content ?? [])
    if (block.type === "tool_result") known.set(block.call, block);
  const calls = answer.content.filter((block) => block.type === "tool_use");
  const results = calls.map((call) => known.get(call.call) ?? lostResult(call));
  return [...messages.slice(0, answerAt + 1), { role: "user", content: results }];
}

function isOpen({ call }: ToolUseBlock, open: readonly OpenCall[]): boolean {
  return open.some((each) => each.call === call);
}

class Answer extends FoldedAnswer {
  readonly results = new Map<CallId, ToolResultBlock>();

  message(): AssistantMessage {
    const { content, interrupted } = this;
    return { role: "assistant", content, ...(interrupted && { interrupted: true as const }) };
  }
}

function resultBlock({ call, tool, status, content }: EventPayloads["ToolResult"]): ToolResultBlock {
  return { type: "tool_result", call, tool, content, is_error: status !== "ok" };
}

function lostResult({ call, tool }: ToolUseBlock): ToolResultBlock {
  return { type: "tool_result", call, tool, content: [text("The result of this call was lost.")], is_error: true };
}
