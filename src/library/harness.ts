/**
 * The loop as a library: a model, the embedding program's tools, and a handler for events.
 *
 * 1. One prompt at a time; another is refused at once and does not affect the first.
 * 2. Handlers are called synchronously, in order, with complete blocks only. Every reported tool call
 *    gets exactly one result, even if it did not run.
 * 3. Calls run one after the other; after a failure the rest do not run, and their results say so.
 * 4. The conversation stays valid after a failure or a cancel, so that the next prompt can continue it. It only grows, except that a
 *    summary may replace the older messages.
 * 5. It reads no environment variables and touches no file except the cassette.
 */
import { onAbort } from "../base/abort-tree.js";
import { systemClock } from "../base/clock.js";
import { createIdSource } from "../base/ulid.js";
import { OutsideResults } from "../chain/outside-results.js";
import type { Waiting } from "../control/inbox.js";
import { PermissionPrompts } from "../control/permission-prompts.js";
import type { Run } from "../control/run.js";
import type { HarnessEvent, HarnessStatus } from "../control/transports/simple-events.js";
import { Bus } from "../engine/bus.js";
import type { TurnResult } from "../engine/loop.js";
import type { NamedHook } from "../engine/turn.js";
import { type AssistantBlock, type Message, plainText, text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { ClientId, TurnId } from "../protocol/ids.js";
import type { JsonObject } from "../protocol/json.js";
import type { Usage } from "../protocol/usage.js";
import { assemble } from "../runtime/assemble.js";
import { RunCompaction } from "../runtime/parts/compaction.js";
import { sessionMark } from "../runtime/sessions/session-mark.js";
import { PermissionGate } from "../security/permissions/gate.js";
import { STANDING_INSTRUCTION } from "../security/untrusted/standing-instruction.js";
import { type HarnessConfig, readConfig } from "./config.js";
import { LibraryCosts } from "./costs.js";
import { HarnessError, PromptCancelledError } from "./errors.js";
import { LibraryModel } from "./model.js";
import { refuseUnknown } from "./options.js";
import { type HarnessTool, readTools } from "./tools.js";

/** All optional. They run on the harness's own stack, so they should be quick; one that throws ends the prompt with its error. */
export interface HarnessHandler {
  /** The prompt is in the conversation. */
  onUser?(content: string): void;
  /** A block of text is complete. */
  onText?(content: string): void;
  /** A block of reasoning is complete, where the provider shows it. */
  onReasoning?(content: string): void;
  /** A tool call is complete in the answer; it has not been run yet. */
  onToolCall?(id: string, name: string, input: JsonObject): void;
  onToolResult?(id: string, result: string, isError: boolean): void;
  onStatus?(status: HarnessStatus): void;
}

export interface PromptOptions {
  /** Cancels the prompt. */
  readonly signal?: AbortSignal | undefined;
  /** While another prompt runs, waits for its end instead of being refused. */
  readonly queue?: boolean | undefined;
  /** While another prompt runs, goes to the model with the results of its next calls; after the last of them, waits as `queue` does. */
  readonly steer?: boolean | undefined;
  /** Images for the model; `data` is base64. */
  readonly images?: readonly { readonly media_type: string; readonly data: string }[] | undefined;
}

export interface PromptResult {
  /** `limit`: maxTurns or a budget was reached before the model had a final answer. */
  readonly outcome: "answered" | "limit";
  /** The limit that was reached, where it is a budget. */
  readonly stoppedBy?: Failure;
  /** The text of the last answer. */
  readonly text: string;
  /** The number of model calls. */
  readonly turns: number;
  readonly usage: Usage;
  /** The cost in US dollars, with a budget or a price and if the price is known. */
  readonly usd?: number;
  /** The last answer stopped at maxTokens. */
  readonly truncated: boolean;
}

export interface CompactOptions {
  /** What the summary must keep. */
  readonly keep?: string | undefined;
  /** Cancels it. */
  readonly signal?: AbortSignal | undefined;
}

export interface CompactResult {
  /** False if the conversation was too short; then nothing changed. */
  readonly shortened: boolean;
  /** Of the next request, by estimate. */
  readonly tokens?: { readonly before: number; readonly after: number };
}

const KNOWN_PROMPT: Readonly<Record<keyof PromptOptions, true>> = {
  signal: true,
  queue: true,
  steer: true,
  images: true,
};
const KNOWN_COMPACT: Readonly<Record<keyof CompactOptions, true>> = { keep: true, signal: true };
const KNOWN_HANDLER: Readonly<Record<keyof HarnessHandler, true>> = {
  onUser: true,
  onText: true,
  onReasoning: true,
  onToolCall: true,
  onToolResult: true,
  onStatus: true,
};

/** A handler may be any object; members with the name of a handler must be functions. */
function refuseUnknownHandlers(handler: HarnessHandler | null | undefined): void {
  const named = Object.entries(handler ?? {}).filter(([name]) => /^on[A-Z]/.test(name));
  refuseUnknown<HarnessHandler>("the handler", Object.fromEntries(named), KNOWN_HANDLER);
}

export class Harness {
  readonly #run: Run;
  readonly #compaction: RunCompaction;
  readonly #client: ClientId;
  readonly #maxTurns: number;
  readonly #model: LibraryModel;
  readonly #listeners = new Set<(event: HarnessEvent) => void>();
  /** What a handler threw during this prompt, first. */
  #fault: { readonly error: unknown } | undefined;
  /** The last turn that was reported: several prompts may have become one turn. */
  #lastReported: TurnId | undefined;

  constructor(config: HarnessConfig, tools: readonly HarnessTool[], handler?: HarnessHandler | null) {
    const resolved = readConfig(config);
    refuseUnknownHandlers(handler);
    const registry = readTools(tools, (name) => this.#status({ state: "running tool", message: `Running ${name}.` }));
    const ids = createIdSource({ wall: systemClock.wall, random: (bytes) => crypto.getRandomValues(bytes) });
    this.#client = ids.next("cli");
    this.#maxTurns = resolved.maxTurns;
    const session = ids.next("sess");
    const bus = new Bus({ session, originator: this.#client, clock: systemClock });
    bus.subscribe((event) => this.#onEvent(event));
    const permissionPrompts = new PermissionPrompts(bus, () => false);
    const { contextTokens: reads, maxTokens: writes } = resolved;
    const outside = new OutsideResults(() => sessionMark(session), { results: resolved.untrustedResults });
    this.#compaction = new RunCompaction({
      outside,
      share: resolved.compactAt,
      limitsOf: async () => (reads === undefined ? undefined : { reads, writes }),
      conversation: () => this.#run.conversation,
    });
    const costs = resolved.costs && new LibraryCosts(resolved.costs);
    const bringsText = outside.wraps && registry.list().some(({ ownResults }) => ownResults !== true);
    const notices = bringsText ? [STANDING_INSTRUCTION] : [];
    const systemPrompt = [resolved.systemPrompt, ...notices].filter((part) => part !== "").join("\n\n");
    // The last of its stage: the input is in the conversation by then.
    const showInput: NamedHook = {
      name: "99-show-input",
      run: (turn) => {
        this.#emit({ type: "user", content: plainText(turn.input) });
      },
    };
    const onRequest = () => this.#status({ state: "thinking", message: `Waiting for ${resolved.model}.` });
    this.#model = new LibraryModel(resolved, onRequest);
    const assembly = assemble({
      session,
      bus,
      model: this.#model,
      tools: registry,
      permissionPrompts,
      services: {
        // The tools are the embedding program's own: it has decided what they may do.
        gate: new PermissionGate("allow"),
        log: () => {},
        retry: { clock: systemClock, random: Math.random, totalWaitMs: resolved.retryWaitMs },
        systemPrompt: () => systemPrompt,
        maxOutputTokens: resolved.maxTokens,
        effort: () => resolved.effort,
      },
      parts: [
        { name: "compaction", services: { compaction: this.#compaction, outside } },
        { name: "costs", services: costs === undefined ? {} : { costs } },
        { name: "input", hooks: { start: [showInput] } },
      ],
      ports: {
        clock: systemClock,
        ids,
        mayStartEarly: () => false,
        onBlock: (block) => this.#seeBlock(block),
        toolExecution: "sequential",
        maxIterations: resolved.maxTurns,
      },
    });
    this.#run = assembly.createRun();
    if (handler) this.subscribe((event) => callHandler(handler, event));
  }

  /** A copy of the conversation so far, oldest first. */
  get messages(): readonly Message[] {
    return [...this.#run.conversation];
  }

  /** Whether a prompt is running. */
  get busy(): boolean {
    return this.#run.busy;
  }

  /**
   * Runs a prompt until the model answers without tool calls or maxTurns is reached. Rejects with a HarnessError if it
   * fails, with a PromptCancelledError (name "AbortError") if it was cancelled, with a handler's error if one threw.
   */
  async prompt(content: string, options: PromptOptions = {}): Promise<PromptResult> {
    refuseUnknown("prompt()", options, KNOWN_PROMPT);
    const { signal, queue, steer, images = [] } = options;
    if (typeof content !== "string" || content.trim() === "") {
      throw new HarnessError(failure("InvalidInput", { detail: "A prompt must be a non-empty string." }));
    }
    if (signal?.aborted) throw new PromptCancelledError(signal.reason);
    const delivery = steer ? { delivery: "steer" as const } : queue ? { delivery: "queue" as const } : {};
    const pictures = images.map(({ media_type, data }) => ({ type: "image", media_type, data }) as const);
    const started = this.#run.start({
      content: [...pictures, text(content)],
      originator: { id: this.#client, identity: "human" },
      ...delivery,
    });
    if ("refused" in started) {
      const message = "A prompt is already running. Wait until it has ended, or cancel() it first.";
      throw new HarnessError({ ...started.refused, message });
    }
    if ("waiting" in started && !(await isBegun(started, signal))) throw new PromptCancelledError(signal?.reason);
    this.#fault = undefined;
    const stopListening = signal === undefined ? () => {} : onAbort(signal, () => this.cancel());
    const result = await started.ended.finally(stopListening);
    if (result === undefined) throw new PromptCancelledError();
    if (result.turn !== this.#lastReported) this.#status({ state: "idle", message: this.#endMessage(result) });
    this.#lastReported = result.turn;
    return this.#conclude(result, signal);
  }

  /** Summarises the older messages; the model writes the summary. Refused while a prompt runs. */
  async compact(options: CompactOptions = {}): Promise<CompactResult> {
    refuseUnknown("compact()", options, KNOWN_COMPACT);
    const { keep, signal } = options;
    if (signal?.aborted) throw new PromptCancelledError(signal.reason);
    const stopListening = signal === undefined ? () => {} : onAbort(signal, () => this.cancel());
    const result = await this.#compaction.compactNow(this.#run, { focus: keep }).finally(stopListening);
    if (!this.busy) this.#status({ state: "idle", message: "failure" in result ? result.failure.message : "Ready." });
    if ("cancelled" in result) throw new PromptCancelledError(signal?.reason);
    if ("failure" in result) throw new HarnessError(result.failure);
    return "tokens" in result ? { shortened: true, tokens: result.tokens } : { shortened: false };
  }

  /** Cancels the running prompt, if there is one. */
  cancel(): void {
    this.#run.cancel(this.#client);
  }

  /** The differences from the replayed cassette; undefined without any. Call it after all prompts. */
  cassetteReport(): string | undefined {
    return this.#model.cassetteReport();
  }

  /** Receives every event as a value; for servers and logs. The returned function unsubscribes. */
  subscribe(listener: (event: HarnessEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #conclude(result: TurnResult, signal: AbortSignal | undefined): PromptResult {
    if (this.#fault !== undefined) throw this.#fault.error;
    const { outcome } = result;
    if (outcome === "cancelled") throw new PromptCancelledError(signal?.aborted ? signal.reason : undefined);
    if (outcome !== "answered" && outcome !== "limit") {
      throw new HarnessError(result.failure ?? failure("Internal", { detail: `the turn ended as ${outcome}` }));
    }
    const { failure: cause, cost } = result;
    return {
      outcome,
      ...(cause?.reason === "BudgetReached" && { stoppedBy: cause }),
      text: result.text,
      turns: result.iterations,
      usage: result.usage,
      ...(cost !== undefined && { usd: cost.usd }),
      truncated: result.truncated === true,
    };
  }

  #endMessage({ outcome, failure: cause }: TurnResult): string {
    if (this.#fault !== undefined) return `Stopped: a handler failed: ${errorText(this.#fault.error)}`;
    if (outcome === "answered") return "Ready.";
    if (cause?.reason === "BudgetReached") return cause.message;
    if (outcome === "limit") return `Stopped: the limit of ${this.#maxTurns} turns (maxTurns) was reached.`;
    return outcome === "cancelled" ? "Cancelled." : (cause?.message ?? "Failed.");
  }

  #seeBlock(block: AssistantBlock): void {
    if (block.type === "text") this.#emit({ type: "text", content: block.text });
    if (block.type === "thinking" && block.text !== "") this.#emit({ type: "reasoning", content: block.text });
    if (block.type === "tool_use") {
      this.#emit({ type: "tool_call", id: block.call, name: block.tool, input: structuredClone(block.args) });
    }
  }

  #onEvent({ kind, payload }: Envelope): void {
    if (kind === "RateLimited" || kind === "Retrying") this.#status({ state: "thinking", message: payload.message });
    if (kind === "CompactionTriggered") this.#status({ state: "thinking", message: "The conversation was shortened." });
    if (kind === "InputSteered") this.#emit({ type: "user", content: plainText(payload.input) });
    if (kind !== "ToolResult") return;
    const { call, status, content } = payload;
    this.#emit({ type: "tool_result", id: call, result: plainText(content), isError: status !== "ok" });
  }

  #status(status: HarnessStatus): void {
    this.#emit({ type: "status", ...status });
  }

  #emit(event: HarnessEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#fault ??= { error };
        this.cancel();
      }
    }
  }
}

/** Whether a turn has taken it; false if it was dropped. */
function isBegun(waiting: Waiting, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const stopListening = signal === undefined ? () => {} : onAbort(signal, () => waiting.withdraw());
    const settle = (begun: boolean) => {
      stopListening();
      resolve(begun);
    };
    void waiting.begun.then(() => settle(true));
    void waiting.ended.then((result) => settle(result !== undefined));
  });
}

function callHandler(handler: HarnessHandler, event: HarnessEvent): void {
  switch (event.type) {
    case "user":
      handler.onUser?.(event.content);
      break;
    case "text":
      handler.onText?.(event.content);
      break;
    case "reasoning":
      handler.onReasoning?.(event.content);
      break;
    case "tool_call":
      handler.onToolCall?.(event.id, event.name, event.input);
      break;
    case "tool_result":
      handler.onToolResult?.(event.id, event.result, event.isError);
      break;
    case "status":
      handler.onStatus?.({ state: event.state, message: event.message });
      break;
  }
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
