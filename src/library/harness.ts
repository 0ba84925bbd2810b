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
import type { Tool } from "../engine/ports.js";
import type { NamedHook } from "../engine/turn.js";
import { type AssistantBlock, type Message, plainText, resultText, text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { failure } from "../protocol/errors.js";
import type { ClientId, TurnId } from "../protocol/ids.js";
import { assemble } from "../runtime/assemble.js";
import { RunCompaction } from "../runtime/parts/compaction.js";
import { sessionMark } from "../runtime/sessions/session-mark.js";
import { PermissionGate } from "../security/permissions/gate.js";
import { STANDING_INSTRUCTION } from "../security/untrusted/standing-instruction.js";
import { type HarnessConfig, readConfig } from "./config.js";
import { LibraryCosts } from "./costs.js";
import { HarnessError, PromptCancelledError } from "./errors.js";
import { callHandler, type HarnessHandler, refuseUnknownHandlers } from "./handler.js";
import { LibraryModel } from "./model.js";
import { refuseUnknown } from "./options.js";
import {
  type CompactOptions,
  type CompactResult,
  KNOWN_COMPACT,
  KNOWN_PROMPT,
  type PromptOptions,
  type PromptResult,
} from "./prompt.js";
import { type HarnessTool, readTools } from "./tools.js";

export class Harness {
  readonly #run: Run;
  readonly #compaction: RunCompaction;
  readonly #client: ClientId;
  readonly #maxTurns: number;
  readonly #model: LibraryModel;
  readonly #listeners = new Set<(event: HarnessEvent) => void>();
  /** The first error that a handler threw during this prompt. */
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
    const systemPrompt = promptOf(resolved, outside.wraps ? registry.list() : []);
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
        { name: "input", hooks: { start: [inputHook((content) => this.#emit({ type: "user", content }))] } },
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

  /** Tells whether a prompt is running. */
  get busy(): boolean {
    return this.#run.busy;
  }

  /**
   * Runs a prompt until the model answers without tool calls or maxTurns is reached. Rejects with a HarnessError if it
   * fails, with a PromptCancelledError (name "AbortError") if it was cancelled, with a handler's error if one threw.
   */
  async prompt(content: string, options: PromptOptions = {}): Promise<PromptResult> {
    refuseUnknown("prompt()", options, KNOWN_PROMPT);
    const { signal, queue, steer, images = [], audio = [] } = options;
    if (typeof content !== "string" || content.trim() === "") {
      throw new HarnessError(failure("InvalidInput", { detail: "A prompt must be a non-empty string." }));
    }
    if (signal?.aborted) throw new PromptCancelledError(signal.reason);
    const delivery = steer ? { delivery: "steer" as const } : queue ? { delivery: "queue" as const } : {};
    const pictures = images.map(({ media_type, data }) => ({ type: "image", media_type, data }) as const);
    const sounds = audio.map(({ media_type, data }) => ({ type: "audio", media_type, data }) as const);
    const started = this.#run.start({
      content: [...pictures, ...sounds, text(content)],
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
    this.#emit({ type: "tool_result", id: call, result: resultText(content), isError: status !== "ok" });
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

/** Tells whether a turn has taken it; false if it was dropped. */
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

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** With a note about results from outside, if a tool brings any. */
function promptOf({ systemPrompt }: { readonly systemPrompt: string }, tools: readonly Tool[]): string {
  const bringsText = tools.some(({ ownResults }) => ownResults !== true);
  return [systemPrompt, bringsText ? STANDING_INSTRUCTION : ""].filter((part) => part !== "").join("\n\n");
}

/** The last of its stage: the input is in the conversation by then. */
function inputHook(show: (content: string) => void): NamedHook {
  return {
    name: "99-show-input",
    run: (turn) => {
      show(plainText(turn.input));
    },
  };
}
