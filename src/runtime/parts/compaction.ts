/**
 * Decides when and how the conversation of a run is compacted. The code for it is loaded late: until then this is one
 * comparison before each request.
 *
 * 1. With `share` undefined, only the user starts a compaction.
 * 2. After an unsuccessful attempt it waits until the conversation has grown.
 */
import type { Compacted, CompactionServices, Summarized } from "../../chain/compact.js";
import type { OutsideResults } from "../../chain/outside-results.js";
import type { Compaction, CompactionWatcher, RunJournal, StartedCompaction } from "../../chain/services.js";
import type { CompactionOptions, CompactionReason } from "../../context/compaction/compact.js";
import { asideRequest, type ConversationFrame } from "../../context/compaction/continued-summary.js";
import { fullAt, type ModelLimits } from "../../context/compaction/limits.js";
import { WindowMeter } from "../../context/compaction/window-meter.js";
import type { WindowFacts } from "../../context/compaction/window-parts.js";
import type { Run } from "../../control/run.js";
import { TurnFailure } from "../../engine/cancel.js";
import type { CallFacts, Model, ModelRequest } from "../../engine/ports.js";
import { callBeside, type SideAnswer } from "../../engine/side-call.js";
import type { Turn } from "../../engine/turn.js";
import { isCostOfAnswer } from "../../protocol/answer-ends.js";
import { type Message, plainText } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { Failure } from "../../protocol/errors.js";

export interface RunCompactionOptions {
  /** The part of the window at which it starts automatically. */
  readonly share: number | undefined;
  /** Undefined if unknown. */
  readonly limitsOf: (model: Model) => Promise<ModelLimits | undefined>;
  readonly summaryModel?: () => Promise<Model | undefined>;
  readonly conversation: () => readonly Message[];
  readonly outside: OutsideResults;
  readonly pinned?: CompactionServices["pinned"];
  readonly journal?: RunJournal;
  readonly onShortened?: () => void;
}

/** Describes what the user asks for. */
export type AskedCompaction = Pick<CompactionOptions, "focus" | "replaces">;

type CompactModule = typeof import("../../chain/compact.js");

/** Below this size, the window of the model does not matter. */
const ALWAYS_FITS = 8_000;
const GROWN = 1.05;

export class RunCompaction implements Compaction {
  readonly #options: RunCompactionOptions;
  readonly #meter = new WindowMeter();
  readonly #full = new WeakMap<Model, number>();
  readonly #watchers: CompactionWatcher[] = [];
  /** Below this size it does not try again. */
  #notBefore = 0;
  #warned = false;
  /** The last request of the conversation, without its messages. */
  #last:
    | { readonly frame: ConversationFrame; readonly model: Model; readonly facts: CallFacts | undefined }
    | undefined;

  constructor(options: RunCompactionOptions) {
    this.#options = options;
  }

  onEvent(event: Envelope): void {
    if (event.kind !== "CostIncremented" || !isCostOfAnswer(event.payload)) return;
    const { input, cache_read, cache_write, output } = event.payload.usage;
    const tokens = input + cache_read + cache_write + output;
    if (tokens > 0) this.#meter.record(tokens, this.#options.conversation().length);
  }

  sent({ messages: _, ...frame }: ModelRequest, model: Model, facts: CallFacts | undefined): void {
    this.#last = { frame, model, facts };
  }

  watch(watcher: CompactionWatcher): void {
    this.#watchers.push(watcher);
  }

  isDue(turn: Turn): boolean | Promise<boolean> {
    if (this.#options.share === undefined) return false;
    const bound = this.#meter.bound(messagesOf(turn));
    const full = this.#full.get(turn.model);
    // Once a provider has counted, its answer has come, and the facts about its model have been loaded.
    if (full === undefined) return (this.#meter.hasCount || bound >= ALWAYS_FITS) && this.#isFull(turn, bound);
    return bound >= Math.max(full, this.#notBefore) && this.#isFull(turn, bound);
  }

  async shorten(turn: Turn, reason: CompactionReason): Promise<boolean> {
    if (this.#options.share === undefined) return false;
    const tokens = await this.#tokens(turn);
    const full = await this.#fullAt(turn.model);
    const { compact } = await import("../../chain/compact.js");
    const { bus, ports, signal, model, conversation } = turn;
    const place = { bus, ports, signal, model, conversation, turn };
    const options = { reason, tokens, ...(Number.isFinite(full) && { full }) };
    const started = { reason, focus: undefined, messages: conversation, signal, turn };
    const result = await this.#watched(started, async (focus) =>
      compact(place, { ...options, focus }, await this.#tools()),
    );
    if ("tokens" in result) {
      this.#shortened(result.tokens.after, conversation);
      return true;
    }
    if ("refused" in result) {
      bus.publish("Notice", { turn: turn.id, level: "warning", message: `Not shortened: ${result.refused}` });
    }
    this.#notBefore = Math.ceil(tokens * GROWN);
    if ("nothing" in result && reason === "nearly full") await this.#warn(turn, tokens);
    if ("failure" in result) {
      const anyway = reason === "nearly full" ? " The conversation continues unchanged." : "";
      const message = `Oxbow could not shorten the conversation: ${result.failure.message}${anyway}`;
      bus.publish("Notice", { turn: turn.id, level: "warning", message });
    }
    return false;
  }

  /** There is nothing to compact: warns the user once. */
  async #warn({ bus, id, model }: Turn, used: number): Promise<void> {
    const limits = await this.#options.limitsOf(model);
    if (limits === undefined || this.#warned) return;
    this.#warned = true;
    const name = `${model.provider}:${model.model}`;
    bus.publish("ContextNearlyFull", { turn: id, model: name, used, window: limits.reads });
  }

  /** On request, between two turns. */
  async compactNow(run: Run, { focus, replaces = "older" }: AskedCompaction = {}): Promise<Compacted> {
    const { bus, model, conversation } = run;
    const result = await this.#between(run, async ({ compact }, { signal, ports }) => {
      const asSent = await this.#options.outside.sender();
      const tokens = this.#meter.estimate(asSent(conversation), await weigher(model));
      const full = await this.#fullAt(model);
      const place = { bus, ports, signal, model, conversation };
      const known = Number.isFinite(full) ? { full } : {};
      const started = { reason: "asked" as const, focus, messages: conversation, signal };
      return this.#watched(started, async (focus) =>
        compact(place, { reason: "asked", tokens, focus, replaces, ...known }, await this.#tools()),
      );
    });
    if ("tokens" in result) this.#shortened(result.tokens.after, conversation);
    return result;
  }

  /** A question that does not enter the conversation, also during a turn. */
  async askBeside(run: Run, asked: string, stop: AbortSignal): Promise<SideAnswer> {
    const { bus, model, conversation } = run;
    const asSent = await this.#options.outside.sender();
    const { frame, facts } = this.#last?.model === model ? this.#last : { frame: undefined, facts: undefined };
    const request = asideRequest(conversation, asked, { frame, model: model.model, asSent });
    return run.aside((aside, ports) =>
      callBeside(
        { model, request, purpose: "aside", ...(facts && { facts }) },
        { bus, ports, signal: AbortSignal.any([aside, stop]) },
      ),
    );
  }

  /** Tells what the window of the model holds now. */
  async windowFacts(run: Run): Promise<Omit<WindowFacts, "instructions" | "sections">> {
    const { outside, limitsOf, share } = this.#options;
    const { model, conversation } = run;
    const messages = (await outside.sender())(conversation);
    const limits = await limitsOf(model);
    return {
      model: `${model.provider}:${model.model}`,
      frame: this.#last?.model === model ? this.#last.frame : undefined,
      messages,
      counted: this.#meter.estimate(messages, await weigher(model)),
      window: limits?.reads,
      shortensAt: share === undefined ? undefined : await this.#fullAt(model),
    };
  }

  /** A summary of the conversation, or of some messages of it; it does not change. */
  async summarizeNow(
    run: Run,
    { focus, messages = run.conversation }: { readonly focus?: string; readonly messages?: readonly Message[] } = {},
  ): Promise<Summarized> {
    const { bus, model } = run;
    const conversation = [...messages];
    const isWhole = messages === run.conversation;
    return this.#between(run, async ({ summarizeConversation }, { signal, ports }) => {
      const tools = await this.#tools();
      // Some of the messages are no beginning that a cache knows.
      const services = isWhole ? tools : { ...tools, frameFor: () => undefined };
      return summarizeConversation({ bus, ports, signal, model, conversation }, focus, services);
    });
  }

  async #between<T>(
    run: Run,
    action: (compaction: CompactModule, place: Parameters<Parameters<Run["between"]>[0]>[0]) => Promise<T>,
  ): Promise<T | { readonly failure: Failure }> {
    try {
      return await run.between(async (place) => action(await import("../../chain/compact.js"), place));
    } catch (error) {
      if (error instanceof TurnFailure) return { failure: error.failure };
      throw error;
    }
  }

  /** Compacts with the additions of the watchers, or not at all if one refuses. */
  async #watched(
    started: StartedCompaction,
    compact: (focus: string | undefined) => Promise<Compacted>,
  ): Promise<Compacted> {
    const answers = await Promise.all(this.#watchers.map(async (watcher) => watcher.before?.(started)));
    const refused = answers.find((answer) => answer?.refuse !== undefined)?.refuse;
    if (refused !== undefined) return { refused };
    const focus = [started.focus, ...answers.map((answer) => answer?.keep)].filter((each) => each !== undefined);
    const result = await compact(focus.length === 0 ? undefined : focus.join("\n\n"));
    if (!("tokens" in result)) return result;
    const [first] = started.messages;
    const summary = first === undefined ? "" : plainText(first.content);
    await Promise.all(this.#watchers.map(async (watcher) => watcher.after?.({ ...started, summary })));
    return result;
  }

  #shortened(tokens: number, conversation: readonly Message[]): void {
    this.#meter.record(tokens, conversation.length);
    this.#notBefore = 0;
    this.#warned = false;
    this.#options.onShortened?.();
  }

  async #isFull(turn: Turn, bound: number): Promise<boolean> {
    const full = Math.max(await this.#fullAt(turn.model), this.#notBefore);
    return bound >= full && (await this.#tokens(turn)) >= full;
  }

  /** The tokens of the next request, by the provider's count if there is one. */
  async #tokens(turn: Turn): Promise<number> {
    const messages = messagesOf(turn);
    const weigh = await weigher(turn.model);
    return this.#meter.estimate(messages, weigh) ?? weigh(messages, turn.request);
  }

  async #fullAt(model: Model): Promise<number> {
    const known = this.#full.get(model);
    if (known !== undefined) return known;
    const limits = await this.#options.limitsOf(model);
    const full = limits === undefined ? Number.POSITIVE_INFINITY : fullAt(limits, this.#options.share ?? 1);
    this.#full.set(model, full);
    return full;
  }

  async #tools(): Promise<CompactionServices> {
    const { journal, limitsOf, pinned, summaryModel, outside } = this.#options;
    return {
      limitsOf,
      journal,
      untrusted: await outside.wrapper(),
      asSent: await outside.sender(),
      summaryModel: async () => summaryModel?.(),
      facts: this.#last?.facts,
      frameFor: (model) => (this.#last?.model === model ? this.#last.frame : undefined),
      ...(pinned !== undefined && { pinned }),
    };
  }
}

/** The messages as sent: those of the request, if the conversation has not changed since. */
function messagesOf({ conversation, request }: Turn): readonly Message[] {
  return request?.messages.length === conversation.length ? request.messages : conversation;
}

/** Tokens of some messages, and of the rest of a request. */
async function weigher({ family }: Model) {
  const { estimateRequestTokens } = await import("../../providers/tokens/estimate-request.js");
  return (messages: readonly Message[], frame: Frame = NO_FRAME) =>
    estimateRequestTokens({ system: frame.system, tools: frame.tools, messages }, family);
}

type Frame = Pick<ModelRequest, "system" | "tools">;
const NO_FRAME: Frame = { system: "", tools: [] };
