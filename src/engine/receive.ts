/**
 * Reads one model answer to its end: publishes the deltas, offers finished tool calls to dispatch, and keeps
 * what arrived, even if the stream fails or the turn is cancelled.
 */
import { groupDigits } from "../base/group-digits.js";
import { withOrigin } from "../base/message-origin.js";
import type { AssistantBlock, AssistantMessage, ToolUseBlock } from "../protocol/content.js";
import { plainText, text } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import { NO_USAGE } from "../protocol/usage.js";
import { AnswerRecord } from "./answer-record.js";
import { AttemptCosts, nameOf } from "./attempt-costs.js";
import { ABANDONED, TurnFailure, unlessAbandoned } from "./cancel.js";
import { DeltaMerger } from "./delta-merger.js";
import type { Dispatch } from "./dispatch.js";
import type { AnsweringModel, AttemptEvent, ModelBlock, ModelEvent, ModelStream, StopReason } from "./ports.js";
import { readCall } from "./read-call.js";
import type { Turn } from "./turn.js";

export interface Answer {
  readonly stop: StopReason | undefined;
  readonly yielded: boolean;
  /** False when the stream failed or the turn was cancelled before the end. */
  readonly complete: boolean;
}

export async function receive(turn: Turn, stream: ModelStream, dispatch: Dispatch): Promise<Answer> {
  const reception = new Reception(turn, dispatch);
  const { timing } = turn;
  const from = timing.now();
  const iterator = stream[Symbol.asyncIterator]();
  let first = true;
  let complete = false;
  try {
    for (;;) {
      const next = await unlessAbandoned(iterator.next(), turn.signal, { clock: turn.ports.clock, ms: 0 });
      if (next === ABANDONED) {
        // The signal tells the provider; waiting for its reaction could take forever.
        iterator.return?.()?.then(undefined, () => {});
        break;
      }
      if (first) timing.add("provider/first_byte", timing.now() - from);
      first = false;
      if (next.done === true) {
        complete = !turn.signal.aborted;
        break;
      }
      for (const event of next.value) reception.take(event);
      if (turn.failure !== undefined) {
        iterator.return?.()?.then(undefined, () => {});
        break;
      }
    }
  } catch (error) {
    if (!turn.signal.aborted) turn.fail(asFailure(error));
  }
  timing.add("provider/total", timing.now() - from);
  const isWhole = complete && turn.failure === undefined;
  if (!isWhole) await reception.countCutOff();
  return reception.close(isWhole);
}

function asFailure(error: unknown) {
  if (error instanceof TurnFailure) return error.failure;
  return failure("Internal", { detail: error instanceof Error ? error.message : String(error) });
}

/** The provider is connected but has not answered yet. */
function isBusy({ reason }: Failure): boolean {
  return reason === "RateLimited" || reason === "Overloaded";
}

class Reception {
  readonly #turn: Turn;
  readonly #dispatch: Dispatch;
  readonly #deltas: DeltaMerger;
  readonly #blocks: AssistantBlock[] = [];
  readonly #record = new AnswerRecord();
  readonly #costs: AttemptCosts;
  /** The first event of the answer. */
  readonly #firstEvent: number;
  #partialText = "";
  #partialThinking = "";
  #stop: StopReason | undefined;
  #yielded = false;
  /** The model that answers: that of the turn, unless a link or the model names another. */
  #by: AnsweringModel;
  #cutOff = false;
  /** Characters of this attempt: text, thinking and arguments. */
  #length = 0;

  constructor(turn: Turn, dispatch: Dispatch) {
    this.#turn = turn;
    this.#dispatch = dispatch;
    this.#by = turn.model;
    this.#firstEvent = turn.bus.nextId;
    this.#costs = new AttemptCosts(turn);
    this.#deltas = new DeltaMerger(turn.ports.clock, (kind, merged) => {
      this.#record.delta(kind);
      turn.bus.publish(kind, { text: merged });
    });
  }

  take(event: ModelEvent): void {
    switch (event.type) {
      case "text":
        if (!this.#fits(event.text.length)) return;
        this.#partialText += event.text;
        this.#deltas.add("TextDelta", event.text);
        return;
      case "thinking":
        if (!this.#fits(event.text.length)) return;
        this.#partialThinking += event.text;
        this.#deltas.add("ThinkingDelta", event.text);
        return;
      case "block":
        this.#takeBlock(event.block);
        return;
      case "usage":
        this.#costs.set(event.usage, event.cost);
        return;
      case "notice": {
        const { level, message } = event;
        this.#turn.bus.publish("Notice", { turn: this.#turn.id, level, message });
        return;
      }
      case "source":
      case "unsearched":
        return;
      case "stop":
        this.#stop = event.reason;
        return;
      case "failure":
        this.#turn.fail(event.failure);
        return;
      default:
        this.#takeAttempt(event);
    }
  }

  /** A model that never stops would fill the memory and the disk. */
  #fits(characters: number): boolean {
    const { maxAnswerCharacters: most = Number.POSITIVE_INFINITY } = this.#turn.ports;
    this.#length += characters;
    if (this.#length <= most) return true;
    this.#turn.fail(failure("AnswerTooLong", { name: this.#by.provider, limit: `${groupDigits(most)} characters` }));
    return false;
  }

  /** Between two attempts: flushes held deltas first, so that events stay in order. */
  #takeAttempt(event: AttemptEvent): void {
    this.#deltas.flush();
    const { bus, id: turn } = this.#turn;
    switch (event.type) {
      case "answering":
        this.#by = event.by;
        this.#turn.recordRouting(event.by);
        return;
      case "again":
        this.#abandon();
        this.#costs.skip(event.waitMs);
        this.#turn.timing.add("retry/wait", event.waitMs);
        bus.publish(isBusy(event.failure) ? "RateLimited" : "Retrying", this.#nextAttempt(event));
        return;
      case "failover": {
        this.#abandon();
        const { failure: cause, to } = event;
        const { reason, message } = cause;
        const names = { from: nameOf(this.#by), to: nameOf(to) };
        bus.publish("FailedOver", { turn, route: to.route ?? "", ...names, reason, message });
        return;
      }
      case "retract":
        this.#length = 0;
        this.#blocks.length = 0;
        this.#record.clear();
        this.#partialText = this.#partialThinking = "";
        this.#yielded = false;
        bus.publish("AnswerRetracted", { turn, reason: event.reason });
        return;
      case "cut":
        this.#cutOff = true;
        bus.publish("Retrying", this.#nextAttempt({ failure: event.failure, waitMs: 0, attempt: 1 }));
    }
  }

  #nextAttempt({ failure: cause, waitMs, attempt }: { failure: Failure; waitMs: number; attempt: number }) {
    const { reason, message } = cause;
    return { turn: this.#turn.id, ...nameOf(this.#by), reason, message, wait_ms: Math.round(waitMs), attempt };
  }

  #abandon(): void {
    this.#costs.abandon(this.#by);
    this.#stop = undefined;
  }

  #takeBlock(block: ModelBlock): void {
    switch (block.type) {
      case "text":
        this.#partialText = "";
        this.#deltas.flush();
        this.#keep(block);
        return;
      case "thinking": {
        this.#partialThinking = "";
        this.#deltas.flush();
        const { provider, opaque } = block;
        this.#record.delta("ThinkingDelta");
        this.#turn.bus.publish("ThinkingDelta", { text: "", provider, ...(opaque !== undefined && { opaque }) });
        this.#keep(block);
        return;
      }
      case "tool_call": {
        this.#deltas.flush();
        if (!this.#fits((block.malformed ?? JSON.stringify(block.args)).length)) return;
        const { ids, tools } = this.#turn.ports;
        // A hook may offer a tool and answer its calls itself.
        const isOfHook = tools.find(block.tool) === undefined && this.#isOffered(block.tool);
        const { tool, args, ...read } = isOfHook ? { ...block, notes: [] } : readCall(tools, block);
        const { malformed } = block;
        const call: ToolUseBlock = {
          ...{ type: "tool_use", call: ids.next("call"), tool, args },
          ...(malformed !== undefined && { malformed }),
        };
        this.#keep(call);
        this.#dispatch.offer(call, read);
        return;
      }
      case "yield":
        this.#yielded = true;
        this.#keep(block);
        return;
      case "opaque":
        this.#keep(block);
        return;
    }
  }

  /** Tells whether the last block is a call without all of its arguments; nothing at all counts as `{}`. */
  #endsInCall(): boolean {
    const last = this.#blocks.at(-1);
    return last?.type === "tool_use" && (last.malformed !== undefined || Object.keys(last.args).length === 0);
  }

  #isOffered(name: string): boolean {
    return this.#turn.request?.tools.some((each) => each.name === name) === true;
  }

  /** The provider did not report its output. */
  async countCutOff(): Promise<void> {
    const { ports, request } = this.#turn;
    const { usage } = this.#costs;
    const texts = this.#blocks.map((block) => {
      if (block.type === "text" || block.type === "thinking") return block.text;
      return block.type === "tool_use" ? (block.malformed ?? JSON.stringify(block.args)) : "";
    });
    const words = [...texts, this.#partialThinking, this.#partialText].join("");
    if (ports.countCutOff === undefined || (words === "" && usage === NO_USAGE)) return;
    const counted = await ports.countCutOff({ request, by: this.#by, usage, words }).catch(() => undefined);
    if (counted !== undefined) this.#costs.set(counted.usage, counted.cost);
  }

  #keep(block: AssistantBlock): void {
    this.#add(block);
    this.#turn.ports.onBlock?.(block);
  }

  #add(block: AssistantBlock): void {
    this.#blocks.push(block);
    this.#record.block(block);
  }

  close(complete: boolean): Answer {
    this.#deltas.flush();
    const turn = this.#turn;
    if (this.#partialThinking !== "") {
      this.#add({ type: "thinking", text: this.#partialThinking, provider: this.#by.family });
    }
    if (this.#partialText !== "") this.#add(text(this.#partialText));
    const whole = complete && !this.#cutOff;
    if (this.#blocks.length > 0) {
      const interrupted = whole ? {} : { interrupted: true as const };
      const message: AssistantMessage = { role: "assistant", content: this.#blocks, ...interrupted };
      turn.conversation.push(withOrigin(message, this.#firstEvent));
    }
    turn.text = plainText(this.#blocks);
    turn.truncated = this.#stop === "length";
    turn.outputLimit = turn.request?.maxOutputTokens ?? (this.#costs.usage.output || undefined);
    if (complete) turn.cutCalls = turn.truncated && this.#endsInCall() ? turn.cutCalls + 1 : 0;
    this.#publishEnd(whole);
    // A refused call costs nothing.
    if (complete || this.#costs.usage !== NO_USAGE) this.#costs.pay(this.#by);
    return { stop: this.#stop, yielded: this.#yielded, complete };
  }

  #publishEnd(whole: boolean): void {
    const { route } = this.#by;
    this.#turn.bus.publish("AnswerEnded", {
      turn: this.#turn.id,
      ...nameOf(this.#by),
      ...(route !== undefined && { route }),
      ...(this.#stop !== undefined && { stop: this.#stop }),
      ...this.#record.shape({ complete: whole, announced: this.#dispatch.announced }),
    });
  }
}
