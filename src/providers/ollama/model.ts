/**
 * A model of Ollama by its own API. It sizes the context to the request and the machine, shows that the model loads, and reports a
 * prompt that the server cut. The wire encodes and decodes; this class keeps the state of the session.
 *
 * 1. It asks the server about the model once, before the first request; without an answer, the request is still sent.
 * 2. If the server rejects a request as too long, it is sent again with the next larger context, if there is one. No part of an
 *    answer has been shown by then.
 * 3. A cut prompt is reported once, and so is a model that cannot call tools.
 * 4. A request contains nothing that the model cannot do according to the server: the server would refuse the whole request.
 */

import { formatBytes } from "../../base/byte-size.js";
import type { Clock } from "../../base/clock.js";
import type { Model, ModelEvent, ModelRequest, ModelStream, RequestContext } from "../../engine/ports.js";
import { hasImages } from "../../protocol/content.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { CutDetector } from "../cut-detector.js";
import { createHttpModel, type HttpModelOptions } from "../http-model.js";
import { whileWaiting } from "../local/waiting.js";
import { requestBytes } from "../request-size.js";
import { estimateTextTokens } from "../tokens/estimate-request.js";
import { asNumber, asObject } from "../wire/fields.js";
import { neededContext } from "../wire/ollama-request.js";
import { installedModels, isSameModel, runningModels, showOllamaModel } from "./api.js";
import { type ContextLimit, type ContextLimits, ContextWindow } from "./context-window.js";
import { contextThatFits } from "./memory.js";

export interface OllamaModelOptions<State> extends HttpModelOptions<State> {
  readonly clock: Clock;
  /** Use exactly this much context. */
  readonly numCtx?: number;
  /** Says how long the model stays loaded, in Ollama's syntax: `10m`, `-1` forever, `0` not at all. */
  readonly keepAlive?: string;
  /** The memory that programs could use now; absent if the server runs on another machine. */
  readonly availableMemory?: () => number;
}

export function createOllamaModel<State>(options: OllamaModelOptions<State>): Model {
  const session = new OllamaSession(options);
  const { endpoint, model } = options;
  return {
    provider: endpoint.provider,
    family: endpoint.family,
    model,
    contextLimit: () => session.contextLimit(),
    stream: (request, context) => session.stream(request, context),
  };
}

class OllamaSession<State> {
  readonly #options: OllamaModelOptions<State>;
  readonly #cuts = new CutDetector();
  #window: Promise<ContextWindow> | undefined;
  /** As far as the server reports them. */
  #capabilities: readonly string[] = [];
  #bytes: number | undefined;
  #warnedOfCut = false;
  #warnedOfTools = false;

  constructor(options: OllamaModelOptions<State>) {
    this.#options = options;
  }

  /** The most a request can get. */
  async contextLimit(): Promise<number | undefined> {
    this.#window ??= this.#openWindow();
    const { most } = await this.#window;
    return Number.isFinite(most) ? most : undefined;
  }

  async *stream(asked: ModelRequest, context: RequestContext): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
    this.#window ??= this.#openWindow();
    const window = await this.#window;
    const request = this.#possible(asked);
    if (request.tools.length < asked.tools.length && !this.#warnedOfTools) {
      this.#warnedOfTools = true;
      yield [{ type: "notice", level: "warning", message: withoutTools(this.#options.model) }];
    }
    const measured = this.#cuts.ratio;
    let needed = neededContext(request, measured && measured * MARGIN);
    for (;;) {
      const contextTokens = window.sizeFor(needed);
      const again = yield* this.#attempt(request, context, { window, contextTokens });
      if (!again) return;
      needed = contextTokens + 1;
    }
  }

  #possible(request: ModelRequest): ModelRequest {
    const lacks = (ability: string) => this.#capabilities.length > 0 && !this.#capabilities.includes(ability);
    const { effort, ...plain } = request;
    return {
      ...plain,
      ...(effort !== undefined && !lacks("thinking") && { effort }),
      ...(lacks("tools") && { tools: [] }),
    };
  }

  /** True when the request has to be sent again with more context. */
  async *#attempt(
    request: ModelRequest,
    context: RequestContext,
    { window, contextTokens }: { readonly window: ContextWindow; readonly contextTokens: number },
  ): AsyncGenerator<readonly ModelEvent[], boolean> {
    const stream = this.#sized(contextTokens).stream(request, context);
    const waiting = { clock: this.#options.clock, describe: () => this.#waitingFor(request, contextTokens) };
    let begun = false;
    for await (const batch of whileWaiting(stream, waiting)) {
      const [first] = batch;
      const tooLong = first?.type === "failure" && first.failure.reason === "ContextTooLong";
      if (tooLong && !begun && contextTokens < window.most) return true;
      begun ||= first?.type !== "notice";
      yield this.#withCut(batch, request, { window, contextTokens });
    }
    return false;
  }

  #sized(contextTokens: number): Model {
    const { endpoint, keepAlive } = this.#options;
    const extra = endpoint.extra ?? {};
    const options: JsonObject = { num_ctx: contextTokens, ...asObject(extra.options) };
    const alive = keepAlive === undefined ? {} : { keep_alive: asDuration(keepAlive) };
    return createHttpModel({ ...this.#options, endpoint: { ...endpoint, extra: { ...alive, ...extra, options } } });
  }

  #withCut(
    batch: readonly ModelEvent[],
    request: ModelRequest,
    { window, contextTokens }: { readonly window: ContextWindow; readonly contextTokens: number },
  ): readonly ModelEvent[] {
    const counted = batch.findLast((event) => event.type === "usage");
    if (counted?.type !== "usage") return batch;
    const { input, cache_read, output } = counted.usage;
    const asked = { estimated: estimateTextTokens(request, "ollama"), hasImages: hasImages(request.messages) };
    const reading = { ...asked, counted: input + cache_read, answered: output, contextTokens };
    if (!this.#cuts.wasCut(reading) || this.#warnedOfCut) return batch;
    this.#warnedOfCut = true;
    const message = `${this.#options.model} did not read the whole conversation: it has a context of ${contextTokens} tokens, and Ollama drops what does not fit. ${ADVICE[window.limit]}`;
    return [{ type: "notice", level: "warning", message }, ...batch];
  }

  async #waitingFor(request: ModelRequest, contextTokens: number): Promise<string | undefined> {
    const { endpoint, model, http } = this.#options;
    const running = await runningModels(endpoint.baseUrl, { http });
    if (!running.ok) return undefined;
    const loaded = running.models.find(({ name }) => isSameModel(name, model));
    if (loaded !== undefined && (loaded.contextTokens ?? contextTokens) >= contextTokens) {
      return `${model} reads the prompt (${formatBytes(requestBytes(request))})`;
    }
    const bytes = await this.#sizeOnDisk();
    return `loading ${model}${bytes === 0 ? "" : ` (${formatBytes(bytes)})`}`;
  }

  async #openWindow(): Promise<ContextWindow> {
    const { endpoint, model, http, maxContextTokens } = this.#options;
    const fixed = this.#options.numCtx ?? asNumber(asObject(endpoint.extra?.options).num_ctx);
    const [shown, running] = await Promise.all([
      showOllamaModel(endpoint.baseUrl, model, { http }),
      runningModels(endpoint.baseUrl, { http }),
    ]);
    const details = shown.ok ? shown.details : undefined;
    this.#capabilities = details?.capabilities ?? [];
    const known = details?.maxContextTokens ?? maxContextTokens;
    const loaded = running.ok ? running.models.find(({ name }) => isSameModel(name, model)) : undefined;
    const limits: ContextLimits = {
      ...(fixed !== undefined && { fixed }),
      ...(known !== undefined && { model: known }),
      ...(loaded?.contextTokens !== undefined && { loaded: loaded.contextTokens }),
    };
    const available = this.#options.availableMemory?.();
    // The free memory of a GPU is unknown here: the server decides.
    const isMeasurable = available !== undefined && (loaded?.gpuBytes ?? 0) === 0;
    if (fixed !== undefined || details?.cache === undefined || !isMeasurable) return new ContextWindow(limits);
    const weightBytes = loaded === undefined ? await this.#sizeOnDisk() : 0;
    const memory = contextThatFits({ availableBytes: available, weightBytes, cache: details.cache });
    // A model that does not fit at all runs elsewhere, or the server reports an error.
    return new ContextWindow(memory > 0 ? { ...limits, memory } : limits);
  }

  /** 0 if the server does not report it. */
  async #sizeOnDisk(): Promise<number> {
    if (this.#bytes === undefined) {
      const { endpoint, model, http } = this.#options;
      const installed = await installedModels(endpoint.baseUrl, { http });
      this.#bytes = installed.ok ? (installed.models.find(({ name }) => isSameModel(name, model))?.bytes ?? 0) : 0;
    }
    return this.#bytes;
  }
}

function withoutTools(model: string): string {
  return `${model} cannot call tools: it answers, but it cannot read files or run commands. 'oxbow models' shows which models can.`;
}

/** Later text may need more tokens per character than the text so far. */
const MARGIN = 1.1;

const ADVICE: Readonly<Record<ContextLimit, string>> = {
  setting: "Raise the setting num_ctx, shorten the conversation (/compact), or start a new one (/clear).",
  model:
    "This is the largest context the model supports: shorten the conversation (/compact), start a new one (/clear), or use a model with a larger context window.",
  memory:
    "A larger context does not seem to fit into memory: shorten the conversation (/compact), start a new one (/clear), or set num_ctx to use more anyway.",
};

/** Ollama takes a number of seconds as a number only. */
function asDuration(text: string): JsonValue {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}
