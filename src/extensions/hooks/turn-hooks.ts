/**
 * The hooks around a turn: at the start of the session, for each input, and before the turn ends.
 *
 * 1. The hooks of the session's start run before its first input.
 * 2. A refused input never reaches the model, not even when the session is resumed.
 * 3. Hooks may continue a turn a few times; then it ends anyway.
 */
import { lastResults } from "../../base/changed-results.js";
import { withOrigin } from "../../base/message-origin.js";
import type { HookResult, NamedHook, Stage, Turn } from "../../engine/turn.js";
import { addContext } from "../../feature/add-context.js";
import type { CompactionAnswer, CompactionWatcher, StartedCompaction } from "../../feature/part.js";
import {
  contextMessage,
  type InputContent,
  type Message,
  plainText,
  REFUSED_INPUT,
  resultText,
} from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { FailureReason } from "../../protocol/errors.js";
import type { EventPayloads, StopReason } from "../../protocol/events.js";
import type { JsonObject } from "../../protocol/json.js";
import type { LoadedInstructions, SetupTrigger, StartSource } from "./context.js";
import type { EventHooks } from "./event-hooks.js";
import { FileHooks } from "./file-hooks.js";
import type { HookAnswer } from "./hook-answer.js";
import { switchInput } from "./hook-events.js";
import { InstructionHooks } from "./instruction-hooks.js";
import { toolViews } from "./tool-views.js";

const MOST_CONTINUATIONS = 8;

export class TurnHooks {
  readonly #hooks: EventHooks;
  readonly #agent: string | undefined;
  /** Undefined once the hooks of the start ran. */
  #source: StartSource | undefined;
  #began = false;
  /** For the model, with the next input. */
  #pending: { readonly source: string; readonly text: string }[] = [];
  #lastStop: StopReason | undefined;
  #continued: { readonly turn: Turn; times: number } | undefined;
  readonly #root: string;
  readonly #setup: SetupTrigger | undefined;
  #turn: Turn | undefined;
  readonly #instructions: InstructionHooks;
  readonly #files: FileHooks;
  /** The text of the answer so far. */
  #shown = "";
  #isRunning = false;

  /** `agent` is the type of a subagent: for hooks it has no separate session, and no user writes its input. */
  constructor(
    hooks: EventHooks,
    {
      source,
      agent,
      root,
      loads,
      setup,
    }: {
      readonly source: StartSource | undefined;
      readonly agent?: string | undefined;
      readonly root: string;
      readonly loads: () => readonly LoadedInstructions[];
      readonly setup: SetupTrigger | undefined;
    },
  ) {
    this.#hooks = hooks;
    this.#root = root;
    this.#source = source;
    this.#agent = agent;
    this.#setup = setup;
    this.#instructions = new InstructionHooks(hooks, loads);
    this.#files = new FileHooks(hooks, root);
  }

  /** The turn that runs now, or the last one. */
  get turn(): Turn | undefined {
    return this.#turn;
  }

  /** The file of the slash command whose turn runs now. */
  get commandFile(): string | undefined {
    return this.#isRunning ? this.#turn?.commandFile : undefined;
  }

  /** A session without a turn has no end either. */
  get hasEnd(): boolean {
    return this.#began && this.#agent === undefined;
  }

  get stages(): Partial<Record<Stage, readonly NamedHook[]>> {
    return {
      start: [
        { name: "08-event-hooks", run: (turn) => this.#start(turn) },
        { name: "12-event-hooks", run: (turn) => this.#addPending(turn) },
      ],
      receive: [{ name: "60-event-hooks", run: (turn) => this.#stop(turn) }],
      error: [{ name: "60-event-hooks", run: (turn) => this.#failed(turn) }],
      tool_done: [
        { name: "20-event-hooks", run: (turn) => this.#batch(turn) },
        ...(this.#agent === undefined ? [{ name: "30-steer", run: (turn: Turn) => this.#steer(turn) }] : []),
        { name: "35-event-hooks", run: (turn) => this.#addPending(turn) },
      ],
    };
  }

  get compactions(): CompactionWatcher {
    return { before: (compaction) => this.#beforeCompaction(compaction), after: (done) => this.#afterCompaction(done) };
  }

  onEvent(event: Envelope): void {
    if (event.kind === "TurnEnded") this.#isRunning = false;
    if (event.kind === "AnswerEnded") this.#lastStop = event.payload.stop;
    if (event.kind === "FailedOver") this.#failedOver(event.payload);
    if (event.kind === "PermissionRequested") this.#notify(event.payload);
    if (this.#agent === undefined && this.#hooks.has("MessageDisplay")) this.#display(event);
  }

  #notify({ tool, summary, form }: EventPayloads["PermissionRequested"]): void {
    const type = form === undefined ? "permission_prompt" : "elicitation_dialog";
    const message = `Oxbow needs your permission to use ${tool}: ${summary}`;
    const input = { message, title: "Permission needed", notification_type: type };
    this.#hooks.aside("Notification", { subject: type, input });
  }

  #failedOver({ from, to }: EventPayloads["FailedOver"]): void {
    const input = { ...switchInput(from, to), requested_model: to.model, source: "auto" };
    const keep = ({ context }: HookAnswer) => this.keep("PostModelSwitch", context);
    this.#hooks.aside("PostModelSwitch", { subject: to.model, input }, keep);
  }

  /** Clients show the text while it comes; hooks get each whole message. */
  #display({ kind, payload, id }: Envelope): void {
    if (kind === "TextDelta") this.#shown += payload.text;
    if (kind === "AnswerRetracted") this.#shown = "";
    if (kind !== "AnswerEnded") return;
    const delta = this.#shown;
    this.#shown = "";
    if (delta === "") return;
    const input = { turn_id: payload.turn, message_id: String(id), index: 0, final: true, delta };
    this.#hooks.aside("MessageDisplay", { input });
  }

  async #start(turn: Turn): Promise<HookResult> {
    this.#began = true;
    this.#turn = turn;
    this.#isRunning = true;
    const source = this.#source;
    this.#source = undefined;
    const { signal } = turn;
    if (this.#agent !== undefined) return source && this.#startAgent(this.#agent, signal);
    await this.#setUp(source, signal);
    if (source !== undefined) {
      const { answer } = await this.#hooks.fire("SessionStart", { subject: source, input: { source }, signal });
      this.keep("SessionStart", answer.context);
      this.#files.watch(answer.watched);
      if (answer.stop !== undefined) return { stop: answer.stop };
    }
    this.#instructions.tell();
    await this.#files.check(signal);
    const refusal = await this.#submit(turn, turn.input);
    if (refusal === undefined) return undefined;
    turn.bus.publish("InputDropped", { inputs: [turn.input], by: "hook UserPromptSubmit" });
    turn.conversation.push(withOrigin(contextMessage(REFUSED_INPUT), turn.firstEvent));
    return { stop: refusal };
  }

  /** Before the first turn of a run whose user asks for it. */
  async #setUp(source: StartSource | undefined, signal: AbortSignal): Promise<void> {
    const trigger = this.#setup;
    if (trigger === undefined || (source !== "startup" && source !== "resume")) return;
    const { answer } = await this.#hooks.fire("Setup", { subject: trigger, input: { trigger }, signal });
    this.keep("Setup", answer.context);
  }

  async #startAgent(agent: string, signal: AbortSignal): Promise<HookResult> {
    this.#instructions.tell();
    const { answer } = await this.#hooks.fire("SubagentStart", { subject: agent, input: {}, signal });
    this.keep("SubagentStart", answer.context);
    return answer.stop === undefined ? undefined : { stop: answer.stop };
  }

  /** Tells why the input is refused; undefined if it is not. */
  async #submit({ signal }: Turn, content: readonly InputContent[]): Promise<string | undefined> {
    const prompt = plainText(content);
    const { answer } = await this.#hooks.fire("UserPromptSubmit", { input: { prompt }, signal });
    if (answer.refuses) return answer.reason ?? "A hook refused the input.";
    if (answer.stop !== undefined) return answer.stop;
    this.keep("UserPromptSubmit", answer.context);
    return undefined;
  }

  /** Once for all calls of an answer. */
  async #batch(turn: Turn): Promise<HookResult> {
    this.#instructions.tell();
    if (this.#agent === undefined) await this.#files.check(turn.signal);
    if (!this.#hooks.has("PostToolBatch")) return undefined;
    const tool_calls = batchOf(turn.conversation, this.#root);
    const { answer } = await this.#hooks.fire("PostToolBatch", { input: { tool_calls }, signal: turn.signal });
    this.keep("PostToolBatch", answer.context);
    const stop = answer.stop ?? (answer.refuses ? (answer.reason ?? "A hook stopped the turn.") : undefined);
    if (stop === undefined) return undefined;
    // The model reads the reason when the conversation continues.
    if (answer.refuses) addContext(turn, { source: "hook PostToolBatch", text: stop });
    return { stop };
  }

  /** Text for the model, with the next request that can contain it. */
  keep(event: string, text: string | undefined): void {
    if (text !== undefined) this.#pending.push({ source: `hook ${event}`, text });
  }

  #addPending(turn: Turn): undefined {
    const pending = this.#pending;
    this.#pending = [];
    for (const each of pending) addContext(turn, each);
  }

  /** Input during a turn is handled like any other. */
  async #steer(turn: Turn): Promise<undefined> {
    for (const { content, from } of turn.takeSteering()) {
      const refusal = await this.#submit(turn, content);
      if (refusal === undefined) {
        const event = turn.bus.publish("InputSteered", { turn: turn.id, input: content, from });
        turn.conversation.push(withOrigin({ role: "user", content }, event));
        this.#addPending(turn);
        continue;
      }
      turn.bus.publish("InputDropped", { inputs: [content], by: "hook UserPromptSubmit" });
      const message = `A hook refused your input: ${refusal}`;
      turn.bus.publish("Notice", { turn: turn.id, level: "warning", message });
    }
  }

  async #stop(turn: Turn): Promise<HookResult> {
    const { failure, signal, dispatch } = turn;
    const isEnd = this.#lastStop === "end" || this.#lastStop === "length";
    if (!isEnd || failure !== undefined || turn.stopped || signal.aborted || (dispatch?.size ?? 0) > 0)
      return undefined;
    if (this.#continued?.turn !== turn) this.#continued = { turn, times: 0 };
    const { times } = this.#continued;
    const input = { stop_hook_active: times > 0, last_assistant_message: turn.text };
    const event = this.#agent === undefined ? "Stop" : "SubagentStop";
    const { answer } = await this.#hooks.fire(event, { input, signal, ...(this.#agent && { subject: this.#agent }) });
    if (answer.stop !== undefined) return { stop: answer.stop };
    const text = answer.refuses ? (answer.reason ?? "Continue.") : answer.context;
    if (text === undefined) return undefined;
    if (times >= MOST_CONTINUATIONS) {
      const message = `Stop hooks continued the turn ${times} times. It ends now.`;
      turn.bus.publish("Notice", { turn: turn.id, level: "warning", message });
      return undefined;
    }
    this.#continued.times++;
    addContext(turn, { source: `hook ${event}`, text });
    return { next: "assemble" };
  }

  #failed({ failure, text }: Turn): undefined {
    if (failure === undefined) return;
    const error = errorName(failure.reason);
    const input = { error, error_details: failure.message, last_assistant_message: text };
    this.#hooks.aside("StopFailure", { subject: error, input });
  }

  async #beforeCompaction({ reason, focus, signal }: StartedCompaction): Promise<CompactionAnswer | undefined> {
    const trigger = reason === "asked" ? "manual" : "auto";
    const input = { trigger, custom_instructions: focus ?? "" };
    const { answer } = await this.#hooks.fire("PreCompact", { subject: trigger, input, signal });
    if (answer.refuses) return { refuse: answer.reason ?? "a hook refused." };
    return answer.context === undefined ? undefined : { keep: answer.context };
  }

  async #afterCompaction(done: StartedCompaction & { readonly summary: string }): Promise<void> {
    const { reason, summary, signal, turn } = done;
    const trigger = reason === "asked" ? "manual" : "auto";
    await this.#hooks.fire("PostCompact", { subject: trigger, input: { trigger, compact_summary: summary }, signal });
    const input = { source: "compact" };
    const { answer } = await this.#hooks.fire("SessionStart", { subject: "compact", input, signal });
    this.keep("SessionStart", answer.context);
    this.#instructions.tellAgain();
    if (turn !== undefined) this.#addPending(turn);
  }
}

/** The calls of the newest answer with what the model reads about them. */
function batchOf(conversation: readonly Message[], root: string): JsonObject[] {
  const calls = conversation.flatMap(({ role, content }) => (role === "assistant" ? content : []));
  return lastResults(conversation).map(({ call, tool, content }) => {
    const made = calls.findLast((block) => block.type === "tool_use" && block.call === call);
    const args = made?.type === "tool_use" ? made.args : {};
    const [view] = toolViews({ tool, args }, root).parts;
    return {
      tool_name: view?.names[0] ?? tool,
      tool_input: view?.input ?? args,
      tool_use_id: call,
      tool_response: resultText(content),
    };
  });
}

const ERRORS: Partial<Record<FailureReason, string>> = {
  RateLimited: "rate_limit",
  Overloaded: "overloaded",
  AuthFailed: "authentication_failed",
  QuotaExceeded: "billing_error",
  BadRequest: "invalid_request",
  ModelNotFound: "model_not_found",
  ProviderFailed: "server_error",
  AnswerTooLong: "max_output_tokens",
  AnswersCut: "max_output_tokens",
};

/** The type of an error for a matcher. */
function errorName(reason: FailureReason): string {
  return ERRORS[reason] ?? "unknown";
}
