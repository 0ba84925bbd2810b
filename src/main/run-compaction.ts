/**
 * When and how the conversation of a run is made shorter (features M16, X7). What does it is loaded when it is done: until then this is one
 * number that is compared with another before each request.
 *
 * 1. With `share` undefined nothing is shortened unless a person asks for it.
 * 2. What did not help is not tried again before the conversation has grown.
 */
import type { CompactionTools } from "../chain/compact.js";
import type { Compaction, CompactionReason, RunJournal } from "../chain/services.js";
import type { SlashResult } from "../commands/registry.js";
import { fullAt, type ModelLimits } from "../context/compaction/limits.js";
import { WindowMeter } from "../context/compaction/window-meter.js";
import type { Run } from "../control/run.js";
import { TurnFailure } from "../engine/cancel.js";
import type { Model } from "../engine/ports.js";
import type { Turn } from "../engine/turn.js";
import type { Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { failure } from "../protocol/errors.js";
import { endsAnswer } from "../protocol/events.js";

export interface RunCompactionOptions {
  /** The part of the window at which it is done unasked. */
  readonly share: number | undefined;
  /** Undefined where nobody knows. */
  readonly limitsOf: (model: Model) => Promise<ModelLimits | undefined>;
  readonly summaryModel?: () => Promise<Model | undefined>;
  readonly conversation: () => readonly Message[];
  readonly pinned?: () => readonly string[];
  readonly journal?: RunJournal;
  readonly onShortened?: () => void;
}

/** As long as a conversation is shorter than this in any case, nobody has to know how much its model reads. */
const ALWAYS_FITS = 8_000;
const GROWN = 1.05;

export class RunCompaction implements Compaction {
  readonly #options: RunCompactionOptions;
  readonly #meter = new WindowMeter();
  readonly #full = new WeakMap<Model, number>();
  /** Tokens below which it is not tried again. */
  #notBefore = 0;

  constructor(options: RunCompactionOptions) {
    this.#options = options;
  }

  hear(event: Envelope): void {
    if (event.kind !== "CostIncremented" || !endsAnswer(event.payload)) return;
    const { input, cache_read, cache_write, output } = event.payload.usage;
    const tokens = input + cache_read + cache_write + output;
    if (tokens > 0) this.#meter.note(tokens, this.#options.conversation().length);
  }

  isDue(turn: Turn): boolean | Promise<boolean> {
    if (this.#options.share === undefined) return false;
    const full = this.#full.get(turn.model) ?? ALWAYS_FITS;
    if (this.#meter.bound(turn.conversation) < Math.max(full, this.#notBefore)) return false;
    return this.#isFull(turn);
  }

  async shorten(turn: Turn, reason: CompactionReason): Promise<boolean> {
    if (this.#options.share === undefined) return false;
    const tokens = await this.#tokens(turn);
    const full = await this.#fullAt(turn.model);
    const { compact } = await import("../chain/compact.js");
    const { bus, ports, signal, model, conversation } = turn;
    const place = { bus, ports, signal, model, conversation, turn };
    const wish = { reason, tokens, ...(Number.isFinite(full) && { full }) };
    const result = await compact(place, wish, await this.#tools());
    if ("tokens" in result) {
      this.#shortened(result.tokens.after, conversation);
      return true;
    }
    this.#notBefore = Math.ceil(tokens * GROWN);
    if ("failure" in result) {
      const anyway = reason === "nearly full" ? " Going on with all of it." : "";
      const message = `The conversation could not be shortened: ${result.failure.message}${anyway}`;
      bus.publish("Notice", { turn: turn.id, level: "warning", message });
    }
    return false;
  }

  /** Because a person wants it, between two turns. */
  async compactNow(
    run: Run,
    wish = "",
  ): Promise<SlashResult & { readonly tokens?: { before: number; after: number } }> {
    const { compact } = await import("../chain/compact.js");
    const { bus, model, conversation } = run;
    const result = await run
      .between(async ({ signal, ports }) => {
        const full = await this.#fullAt(model);
        const { estimateRequestTokens } = await import("../providers/tokens/estimate-request.js");
        const weigh = (messages: readonly Message[]) =>
          estimateRequestTokens({ system: "", messages, tools: [] }, model.family);
        const tokens = this.#meter.estimate(conversation, weigh);
        const asked = { reason: "asked" as const, tokens, wish: wish === "" ? undefined : wish };
        const known = Number.isFinite(full) ? { full } : {};
        return compact({ bus, ports, signal, model, conversation }, { ...asked, ...known }, await this.#tools());
      })
      .catch(asFailure);
    if ("tokens" in result) {
      this.#shortened(result.tokens.after, conversation);
      const { roundTokens } = await import("../base/budget-text.js");
      const { before, after } = result.tokens;
      return {
        text: `Conversation shortened: ${roundTokens(before)} → ${roundTokens(after)} tokens.`,
        tokens: result.tokens,
      };
    }
    if ("nothing" in result) return { text: "There is nothing to shorten." };
    return "failure" in result ? result : cancelled();
  }

  async summarizeNow(run: Run, wish = ""): Promise<SlashResult> {
    const { summarizeConversation } = await import("../chain/compact.js");
    const { bus, model, conversation } = run;
    const result = await run
      .between(async ({ signal, ports }) => {
        const place = { bus, ports, signal, model, conversation };
        return summarizeConversation(place, wish === "" ? undefined : wish, await this.#tools());
      })
      .catch(asFailure);
    if ("text" in result) return { text: result.text.trim() };
    if ("nothing" in result) return { text: "There is nothing to summarise." };
    return "failure" in result ? result : cancelled();
  }

  #shortened(tokens: number, conversation: readonly Message[]): void {
    this.#meter.note(tokens, conversation.length);
    this.#notBefore = 0;
    this.#options.onShortened?.();
  }

  async #isFull(turn: Turn): Promise<boolean> {
    const full = await this.#fullAt(turn.model);
    return Number.isFinite(full) && (await this.#tokens(turn)) >= Math.max(full, this.#notBefore);
  }

  /** Of the next request: by the provider's count as far as there is one. */
  async #tokens({ conversation, request, model }: Turn): Promise<number> {
    const { estimateRequestTokens } = await import("../providers/tokens/estimate-request.js");
    const frame = { system: "", tools: [] };
    const weigh = (messages: readonly Message[]) => estimateRequestTokens({ ...frame, messages }, model.family);
    const all = { ...(request ?? frame), messages: conversation };
    return this.#meter.estimate(conversation, weigh) ?? estimateRequestTokens(all, model.family);
  }

  async #fullAt(model: Model): Promise<number> {
    const known = this.#full.get(model);
    if (known !== undefined) return known;
    const limits = await this.#options.limitsOf(model);
    const full = limits === undefined ? Number.POSITIVE_INFINITY : fullAt(limits, this.#options.share ?? 1);
    this.#full.set(model, full);
    return full;
  }

  async #tools(): Promise<CompactionTools> {
    const { journal, limitsOf, pinned, summaryModel } = this.#options;
    const [{ createMark, wrapUntrusted }, { randomBytes }] = await Promise.all([
      import("../security/untrusted/untrusted.js"),
      import("node:crypto"),
    ]);
    const mark = createMark(randomBytes);
    return {
      limitsOf,
      journal,
      untrusted: (text, source) => wrapUntrusted({ kind: "tool_result", source, text }, mark),
      summaryModel: async () => summaryModel?.(),
      ...(pinned !== undefined && { pinned }),
    };
  }
}

function asFailure(error: unknown): SlashResult & { readonly failure: ReturnType<typeof failure> } {
  if (error instanceof TurnFailure) return { failure: error.failure };
  throw error;
}

function cancelled(): SlashResult {
  return { failure: failure("InvalidInput", { detail: "Cancelled: the conversation is as it was." }) };
}
