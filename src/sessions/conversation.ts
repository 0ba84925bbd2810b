/**
 * The conversation rebuilt from a session's events: the messages of the next request if the run had not ended.
 *
 * 1. Rebuilt messages equal those of the live run, except secrets, which the log does not contain, and thinking that was cut
 *    off, which no provider accepts.
 * 2. Every call has its result, except those named in `open`: the last answer's, when the log ends before they did.
 * 3. Calls outside a turn (a command that the person typed) are not part of it.
 */
import { withChangedResults } from "../base/changed-results.js";
import { asAdded, originOf, withOrigin } from "../base/message-origin.js";
import {
  type AssistantMessage,
  type InputContent,
  type Message,
  type ToolResultBlock,
  type ToolUseBlock,
  text,
} from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventPayloads } from "../protocol/events.js";
import type { CallId, TurnId } from "../protocol/ids.js";
import type { Usage } from "../protocol/usage.js";
import type { FoldedAnswer } from "./answer-fold.js";
import { type MessageListener, type OpenTurn, TurnFold } from "./turn-fold.js";

export interface OpenCall {
  readonly call: CallId;
  readonly tool: string;
  readonly args: ToolUseBlock["args"];
}

export type OpenQuestion = Pick<EventPayloads["PermissionRequested"], "call" | "tool">;

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
  /** Questions of the last turn without an answer. */
  readonly questions: readonly OpenQuestion[];
  /** The turn that had not ended at the end of the log. */
  readonly unfinished?: UnfinishedTurn;
  /** Inputs that were accepted while a turn ran and that no turn has taken. */
  readonly waiting: readonly EventPayloads["InputQueued"][];
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
  readonly #fold: TurnFold;
  #waiting: EventPayloads["InputQueued"][] = [];
  readonly #questions = new Map<CallId, OpenQuestion>();
  #turns = 0;
  #lastEvent = 0;
  readonly #branchedAt: number | undefined;

  constructor({ withinTurn = false, messages = [], branchedAt }: RebuildOptions = {}) {
    this.#messages = [...messages];
    this.#branchedAt = branchedAt;
    const listener: MessageListener = {
      onInput: ({ at, content, isAdded }) => {
        const last = this.#messages.at(-1);
        if (last !== undefined && originOf(last) === at) this.#messages.pop();
        const message = withOrigin({ role: "user", content } as const, at);
        this.#messages.push(isAdded ? asAdded(message) : message);
      },
      onSummary: ({ payload }, summary) => this.#compact(summary, payload.kept_from),
      onLastOf: (answer) => this.#push(answer, "complete"),
      onLateChange: (result) => this.#changeResult(resultBlock(result)),
    };
    this.#fold = new TurnFold(listener, { withinTurn });
  }

  static async begin(options: RebuildOptions): Promise<ConversationBuilder> {
    const builder = new ConversationBuilder(options);
    for await (const event of options.before ?? []) builder.takeWaiting(event);
    return builder;
  }

  /** Between two turns, and nothing waits: later events do not depend on earlier ones. */
  get isIdle(): boolean {
    return this.#fold.turn === undefined && this.#fold.answer === undefined && this.#waiting.length === 0;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get turns(): number {
    return this.#turns;
  }

  take(event: Envelope): void {
    this.#lastEvent = event.id;
    if (event.kind === "TurnStarted") this.#turns++;
    this.takeWaiting(event);
    this.#takeQuestion(event);
    this.#fold.take(event);
  }

  #takeQuestion({ kind, payload }: Envelope): void {
    if (kind === "TurnStarted") this.#questions.clear();
    else if (kind === "PermissionRequested")
      this.#questions.set(payload.call, { call: payload.call, tool: payload.tool });
    else if (kind === "PermissionResolved") this.#questions.delete(payload.call);
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
        this.#waiting = withoutSteered(this.#waiting, event.payload.input);
        return;
      case "TurnEnded":
        if (this.#branchedAt !== undefined && event.id === this.#branchedAt) this.#waiting = [];
    }
  }

  end(): RebuiltConversation {
    const { answer, turn } = this.#fold;
    const open = answer === undefined ? [] : answer.calls.filter(({ call }) => !answer.results.has(call));
    if (answer !== undefined) this.#push(answer, "open");
    return {
      messages: this.#messages,
      open: open.map(({ call, tool, args }) => ({ call, tool, args })),
      questions: [...this.#questions.values()],
      ...(turn !== undefined && { unfinished: unfinished(turn, answer) }),
      waiting: this.#waiting,
      lastEvent: this.#lastEvent,
      turns: this.#turns,
    };
  }

  #compact(summary: string, from = Number.POSITIVE_INFINITY): void {
    // Results of calls have no origin; an earlier summary has none either, as it is part of this one.
    const first = this.#messages.findIndex((message) => (originOf(message) ?? 0) >= from);
    const kept = first === -1 ? [] : this.#messages.slice(first);
    this.#messages = [{ role: "user", content: [text(summary)] }, ...kept];
  }

  #changeResult(changed: ToolResultBlock): void {
    this.#messages = withChangedResults(this.#messages, [changed]);
  }

  /** The results of an answer that is still open may come later. */
  #push(answer: FoldedAnswer, state: "complete" | "open"): void {
    const message = messageOf(answer);
    if (message.content.length === 0) return;
    this.#messages.push(withOrigin(message, answer.at));
    const results = message.content.flatMap((block): readonly ToolResultBlock[] => {
      if (block.type !== "tool_use") return [];
      const found = answer.results.get(block.call);
      if (found !== undefined) return [resultBlock(found.payload)];
      return state === "open" ? [] : [lostResult(block)];
    });
    if (results.length > 0) this.#messages.push({ role: "user", content: results });
  }
}

function unfinished(
  { turn, iterations, usage, text: soFar }: OpenTurn,
  answer: FoldedAnswer | undefined,
): UnfinishedTurn {
  return { turn, text: answer?.texts.join("") ?? soFar, iterations, usage };
}

function messageOf({ content, interrupted }: FoldedAnswer): AssistantMessage {
  return { role: "assistant", content, ...(interrupted && { interrupted: true as const }) };
}

function isSame(a: readonly InputContent[], b: readonly InputContent[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Input that an earlier run left does not steer, so the oldest one that could is not always the one. */
function withoutSteered(
  waiting: readonly EventPayloads["InputQueued"][],
  taken: readonly InputContent[],
): EventPayloads["InputQueued"][] {
  const steering = waiting.filter(({ delivery }) => delivery === "steer");
  const gone = steering.find(({ input }) => isSame(input, taken)) ?? steering[0];
  return waiting.filter((each) => each !== gone);
}

function withoutFirst<T>(items: readonly T[], wanted: (item: T) => boolean): T[] {
  const at = items.findIndex(wanted);
  return items.filter((_, index) => index !== at);
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

function resultBlock({ call, tool, status, content }: EventPayloads["ToolResult"]): ToolResultBlock {
  return { type: "tool_result", call, tool, content, is_error: status !== "ok" };
}

function lostResult({ call, tool }: ToolUseBlock): ToolResultBlock {
  return { type: "tool_result", call, tool, content: [text("The result of this call was lost.")], is_error: true };
}
