/**
 * Executable hooks in the chain of a turn: what each gets on stdin, and which parts of its output count.
 *
 * 1. Fields that Oxbow does not know are passed on to the executable hooks after it, to the end of the turn.
 * 2. A hook never makes permissions wider: it may deny a call, ask about it, change its arguments before the decision, or answer it.
 * 3. If a hook of tool_exec fails, the calls are not run. If a hook that replaces a built-in one fails, the turn fails. Any
 *    other failing hook is reported and changes nothing.
 */
import { lastResults, withChangedResults } from "../../base/changed-results.js";
import { withOrigin } from "../../base/message-origin.js";
import { safeText } from "../../base/terminal-text.js";
import { TurnFailure } from "../../engine/cancel.js";
import { Dispatch, outcome } from "../../engine/dispatch.js";
import type { ModelEvent, ModelStream } from "../../engine/ports.js";
import { receive } from "../../engine/receive.js";
import type { HookResult, NamedHook, Stage, Turn } from "../../engine/turn.js";
import type { Containment } from "../../extensions/executable/containment.js";
import { commonInput, stageInput } from "../../extensions/executable/hook-input.js";
import {
  type ResultAnswer,
  readCalls,
  readPayload,
  readResponse,
  readResults,
  resultJson,
  usageJson,
} from "../../extensions/executable/hook-json.js";
import { type ExecutableHook, type HookAnswer, runHook } from "../../extensions/executable/hooks.js";
import { type Message, type ResultContent, type ToolResultBlock, text } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";

export interface HookRunOptions {
  readonly containment: Containment;
  readonly root: string;
  readonly report: (problem: string) => void;
  /** Tells whether a built-in hook has this place. */
  readonly isBuiltIn: (stage: Stage, name: string) => boolean;
}

/** For the hooks of `done` after a cancel. */
const CANCELLED_MS = 1000;

const STAGES: readonly string[] = ["start", "assemble", "send", "receive", "tool_exec", "tool_done", "done", "error"];
const KNOWN = new Set(
  "stage hook session turn cwd provider model iteration usage cost_usd input payload conversation response message".split(
    " ",
  ),
);
for (const name of "tool_calls results failure text next_state notice context stop".split(" ")) KNOWN.add(name);

/** Holds what hooks of a turn pass on to each other. */
const carried = new WeakMap<Turn, JsonObject>();

export function namedHook(hook: ExecutableHook, options: HookRunOptions): NamedHook {
  return { name: hook.name, run: (turn) => new Visit(hook, turn, options).run() };
}

class Visit {
  readonly #hook: ExecutableHook;
  readonly #turn: Turn;
  readonly #options: HookRunOptions;
  readonly #stage: Stage;
  readonly #replaces: boolean;
  readonly #place: string;
  #response: readonly ModelEvent[] | undefined;

  constructor(hook: ExecutableHook, turn: Turn, options: HookRunOptions) {
    this.#hook = hook;
    this.#turn = turn;
    this.#options = options;
    this.#stage = hook.stage as Stage;
    this.#place = `${hook.stage}/${hook.name}`;
    this.#replaces = options.isBuiltIn(this.#stage, hook.name);
  }

  async run(): Promise<HookResult> {
    const input = await this.#input();
    const { signal } = this.#turn;
    const answer = await runHook(this.#hook, input, {
      containment: this.#options.containment,
      // The user waits for the end of a cancelled turn.
      ...(signal.aborted ? { timeoutMs: CANCELLED_MS } : { signal }),
    });
    if (signal.aborted) return undefined;
    if (answer.refusal !== undefined) return this.#refuse(answer.refusal);
    if (answer.problem !== undefined) return this.#fail(answer.problem);
    try {
      return await this.#apply(answer);
    } catch (error) {
      if (error instanceof TurnFailure) throw error;
      return this.#fail((error as Error).message);
    }
  }

  /* ---- input ---- */

  async #input(): Promise<JsonObject> {
    const turn = this.#turn;
    const response = this.#stage === "receive" && this.#replaces ? { response: await this.#collected() } : undefined;
    return {
      ...carried.get(turn),
      ...commonInput(turn),
      ...{ stage: this.#stage, hook: this.#hook.name, cwd: this.#options.root },
      ...(response ?? stageInput(this.#stage, turn)),
    };
  }

  /** The whole answer, for a hook that replaces the built-in one. */
  async #collected(): Promise<JsonObject> {
    const { stream } = this.#turn;
    if (stream === undefined) throw new Error("nothing was sent to receive from");
    const events: ModelEvent[] = [];
    for await (const batch of stream) events.push(...batch);
    this.#response = events;
    const content = events.flatMap((event): JsonObject[] => {
      if (event.type !== "block") return [];
      const { block } = event;
      if (block.type === "text") return [{ type: "text", text: block.text }];
      return block.type === "tool_call" ? [{ type: "tool_use", name: block.tool, input: block.args }] : [];
    });
    const usage = events.findLast((event) => event.type === "usage");
    const stop = events.findLast((event) => event.type === "stop");
    return {
      content,
      stop_reason: stop?.reason ?? null,
      ...(usage !== undefined && { usage: usageJson(usage.usage) }),
    };
  }

  /* ---- output ---- */

  async #apply({ output = {} }: HookAnswer): Promise<HookResult> {
    const turn = this.#turn;
    const unknown = Object.entries(output).filter(([name]) => !KNOWN.has(name));
    carried.set(turn, { ...carried.get(turn), ...Object.fromEntries(unknown) });
    if (typeof output.notice === "string") this.#notice(output.notice);
    if (typeof output.context === "string") contextTo(turn, `[hook ${this.#place}] ${output.context}`);
    const next = await this.#applyStage(output);
    if (typeof output.stop === "string") return { stop: safeText(output.stop) };
    return this.#next(output) ?? next;
  }

  async #applyStage(output: JsonObject): Promise<HookResult> {
    const turn = this.#turn;
    switch (this.#stage) {
      case "assemble":
        if (output.payload !== undefined && output.payload !== null) {
          const empty = { model: turn.model.model, system: "", messages: [], tools: [], cacheKey: turn.bus.session };
          turn.request = readPayload(output.payload, turn.request ?? empty);
        }
        return undefined;
      case "send":
        if (output.payload !== undefined && output.payload !== null && turn.request !== undefined)
          turn.request = readPayload(output.payload, turn.request);
        if (output.response !== undefined) this.#answerWith(readResponse(output.response));
        else if (this.#replaces) throw new Error('printed no "response"');
        return undefined;
      case "receive":
        return this.#replaces ? this.#receive(output) : undefined;
      case "tool_exec":
        this.#applyCalls(output);
        return this.#replaces ? this.#finishCalls(output) : undefined;
      case "tool_done":
        if (output.results !== undefined && output.results !== null) await this.#changeResults(output.results);
        return undefined;
      default:
        return undefined;
    }
  }

  #answerWith(events: readonly ModelEvent[]): void {
    this.#turn.dispatch = new Dispatch(this.#turn);
    this.#turn.stream = streamOf(events);
  }

  async #receive(output: JsonObject): Promise<HookResult> {
    const turn = this.#turn;
    const events = output.response === undefined ? (this.#response ?? []) : readResponse(output.response);
    const dispatch = turn.dispatch ?? new Dispatch(turn);
    turn.dispatch = dispatch;
    const answer = await receive(turn, streamOf(events), dispatch);
    if (!answer.complete) return undefined;
    return dispatch.size > 0 ? { next: "tool_exec" } : undefined;
  }

  #applyCalls({ tool_calls, results }: JsonObject): void {
    const { dispatch } = this.#turn;
    if (dispatch === undefined) return;
    if (results !== undefined && results !== null) {
      for (const { id, content, isError } of readResults(results))
        dispatch.give(id, { status: isError ? "error" : "ok", content });
    }
    if (tool_calls === undefined || tool_calls === null) return;
    const answers = new Map(readCalls(tool_calls).map((answer) => [answer.id, answer]));
    for (const { call } of dispatch.open) {
      const answer = answers.get(call);
      if (answer === undefined) dispatch.give(call, outcome("skipped", `Not run: the hook ${this.#place} removed it.`));
      else if (answer.decision !== undefined) {
        const reason = answer.reason ?? "It gave no reason.";
        this.#turn.held.set(call, { decision: answer.decision, by: `hook ${this.#place}`, reason });
      }
      if (answer?.input !== undefined) dispatch.change(call, answer.input);
    }
  }

  /** Like the built-in hook: runs the calls that the hook did not answer, unless it keeps calls for the next round. */
  async #finishCalls({ tool_calls }: JsonObject): Promise<HookResult> {
    const turn = this.#turn;
    if (turn.dispatch === undefined) throw new Error("no calls to run");
    if (Array.isArray(tool_calls) && tool_calls.length > 0 && turn.dispatch.open.length > 0) return undefined;
    await finishCalls(turn);
    return undefined;
  }

  /** The log gets each change too: a resumed session must have the conversation that the model saw. */
  async #changeResults(results: JsonValue): Promise<void> {
    const { conversation, bus, id: turn } = this.#turn;
    const changes = new Map(readResults(results).map((result) => [result.id, result]));
    const changed: ToolResultBlock[] = [];
    for (const block of lastResults(conversation)) {
      const change = changes.get(block.call);
      if (change === undefined || isSame(block, change)) continue;
      const content = await redacted(change.content);
      changed.push({ ...block, content, is_error: change.isError });
      const { call, tool } = block;
      const status = change.isError ? "error" : "ok";
      bus.publish("ToolResultChanged", { turn, call, tool, status, content, by: this.#place });
    }
    if (changed.length > 0) conversation.splice(0, conversation.length, ...withChangedResults(conversation, changed));
  }

  #next(output: JsonObject): HookResult {
    if (!Object.hasOwn(output, "next_state")) return undefined;
    const { next_state } = output;
    if (next_state === "" || next_state === null) return { stop: "it did not name a next stage" };
    if (typeof next_state === "string" && STAGES.includes(next_state)) return { next: next_state as Stage };
    throw new Error(`named the unknown stage ${JSON.stringify(next_state).slice(0, 60)} as next_state`);
  }

  /* ---- trouble ---- */

  #refuse(reason: string): HookResult {
    if (this.#stage !== "tool_exec") return { stop: reason };
    for (const { call } of this.#turn.dispatch?.open ?? [])
      this.#turn.held.set(call, { decision: "deny", by: `hook ${this.#place}`, reason });
    return undefined;
  }

  #fail(problem: string): HookResult {
    const message = `The hook ${this.#place} ${problem}.`;
    this.#options.report(message);
    if (this.#stage === "done" || this.#stage === "error") return undefined;
    if (this.#replaces)
      throw new TurnFailure(failure("StoppedByHook", { hook: this.#place, detail: `it ${problem}.` }));
    if (this.#stage === "tool_exec") this.#refuse(`The hook failed: it ${problem}.`);
    return undefined;
  }

  #notice(message: string): void {
    const shown = safeText(message).slice(0, 2000);
    this.#turn.bus.publish("Notice", { turn: this.#turn.id, level: "warning", message: `${this.#place}: ${shown}` });
  }
}

/** Blocks carry marks of their own, which a hook neither sees nor returns. */
function isSame({ content, is_error }: ToolResultBlock, change: ResultAnswer): boolean {
  const plain = (blocks: readonly ResultContent[]) => JSON.stringify(resultJson(blocks));
  return is_error === change.isError && plain(content) === plain(change.content);
}

async function redacted(content: readonly ResultContent[]): Promise<readonly ResultContent[]> {
  const { redact } = await import("../../security/redact/redact.js");
  return content.map((block) => (block.type === "text" ? { ...block, text: redact(block.text) } : block));
}

function streamOf(events: readonly ModelEvent[]): ModelStream {
  return (async function* () {
    yield events;
  })();
}

const MAX_CHARACTERS = 32_000;
/** By conversation: text that comes too late for a turn is added to the next one. */
const waiting = new WeakMap<readonly Message[], string[]>();

export function contextTo(turn: Turn, words: string): void {
  const list = waiting.get(turn.conversation) ?? [];
  waiting.set(turn.conversation, [...list, words.slice(0, MAX_CHARACTERS)]);
}

/** Before a request is assembled: answers every call, and adds the text of hooks to the conversation. */
export async function prepareConversation(turn: Turn): Promise<void> {
  try {
    await finishCalls(turn);
  } catch (error) {
    if (error instanceof TurnFailure) turn.fail(error.failure);
    else throw error;
  }
  addContext(turn);
}

/** Runs the remaining calls and adds all results to the conversation. */
export async function finishCalls(turn: Turn): Promise<void> {
  const { dispatch } = turn;
  if (dispatch === undefined || dispatch.size === 0) return;
  turn.dispatch = undefined;
  const { results, failure } = await dispatch.finish();
  turn.conversation.push({ role: "user", content: results });
  if (failure !== undefined) throw new TurnFailure(failure);
}

/** In the log it is an input that steers the turn. */
function addContext(turn: Turn): void {
  const list = waiting.get(turn.conversation);
  if (list === undefined) return;
  waiting.delete(turn.conversation);
  const input = [text(list.join("\n\n"))];
  const from = turn.bus.originator;
  turn.bus.publish("InputQueued", { input, delivery: "steer", from });
  const event = turn.bus.publish("InputSteered", { turn: turn.id, input, from });
  turn.conversation.push(withOrigin({ role: "user", content: input }, event));
}
