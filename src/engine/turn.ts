/** The working state of one turn: what the stage hooks read and write. */
import type { AbortNode } from "../base/abort-tree.js";
import type { InputContent, Message } from "../protocol/content.js";
import { type Failure, failure, isLimit } from "../protocol/errors.js";
import type { EventPayloads, TurnOutcome } from "../protocol/events.js";
import type { CallId, ClientId, TurnId } from "../protocol/ids.js";
import { addCost, addUsage, type Cost, type ModelShare, NO_USAGE, type Usage } from "../protocol/usage.js";
import type { Bus } from "./bus.js";
import type { CancelReason } from "./cancel.js";
import type { Dispatch } from "./dispatch.js";
import type { AnsweringModel, EnginePorts, Model, ModelRequest, ModelStream, PreparedCall } from "./ports.js";
import { Timing } from "./timing.js";

export type Stage = "start" | "assemble" | "send" | "receive" | "tool_exec" | "tool_done" | "done" | "error";

/**
 * Describes what a hook returns: nothing, another stage than the default successor, or the end of the turn with its reason for the user
 * and the log.
 */
export type HookResult = { readonly next: Stage } | { readonly stop: string } | undefined;

export type StageHook = (turn: Turn) => Promise<HookResult> | HookResult;

export interface NamedHook {
  readonly name: string;
  readonly run: StageHook;
}

export type StageChains = Readonly<Record<Stage, readonly NamedHook[]>>;

/** Input that arrived while the turn ran. */
export interface SteeringInput {
  readonly content: readonly InputContent[];
  readonly from: ClientId;
}

export interface TurnOptions {
  readonly id: TurnId;
  readonly input: readonly InputContent[];
  /** A text that the model gets with the input. */
  readonly notice?: string | undefined;
  /** The file of the slash command that the turn is for. */
  readonly commandFile?: string | undefined;
  /** Calls that take the place of the model's first answer. */
  readonly calls?: readonly PreparedCall[] | undefined;
  /** The route of this turn; until it is open, `model` applies. */
  readonly route?: string;
  /** The number of waiting inputs that it takes. */
  readonly queued?: number;
  /** Returns input for the model during the turn, oldest first. */
  readonly takeSteering?: () => readonly SteeringInput[];
  readonly bus: Bus;
  readonly ports: EnginePorts;
  readonly model: Model;
  readonly abort: AbortNode;
  /** Shared by all turns of the run. It only grows, except when a summary replaces the older messages. */
  readonly conversation: Message[];
}

export interface Unanswered {
  readonly tool: string;
  /** The command, path or address of the question. */
  readonly about: string;
  /** The rules that allow it, as TOML for a settings file and as values of `--allow`; without the latter no flag and no mode allows it. */
  readonly toml?: readonly string[];
  readonly words?: readonly string[];
  /** The time that the question waited, if a user was there. */
  readonly afterMs?: number;
}

export interface HeldCall {
  readonly decision: "ask" | "deny";
  /** The hook, for messages. */
  readonly by: string;
  readonly reason: string;
}

export class Turn {
  readonly id: TurnId;
  readonly input: readonly InputContent[];
  /** Set before the turn begins. */
  notice: string | undefined;
  /** Tells whether the session is in plan mode now. */
  isPlanning: () => boolean = () => false;
  /** The mode that a person has chosen for the session. */
  chosenMode: () => EventPayloads["TurnStarted"]["mode"] = () => undefined;
  /** The folders that a person has added to the workspace. */
  folders: readonly string[] = [];
  readonly bus: Bus;
  readonly ports: EnginePorts;
  readonly route: string | undefined;
  readonly commandFile: string | undefined;
  /** Calls that take the place of the model's next answer. */
  calls: readonly PreparedCall[] | undefined;
  readonly queued: number;
  readonly takeSteering: () => readonly SteeringInput[];
  model: Model;
  readonly abort: AbortNode;
  readonly conversation: Message[];
  readonly timing: Timing;

  /** The event it began with. */
  firstEvent = 0;
  request: ModelRequest | undefined;
  stream: ModelStream | undefined;
  dispatch: Dispatch | undefined;

  iterations = 0;
  usage: Usage = NO_USAGE;
  /** `unknown` once a call has no known price. */
  cost: Cost | "unknown" | undefined;
  readonly #shares = new Map<string, ModelShare>();
  /** The rule that chose the model of the last call. */
  #rule: string | undefined;
  /** Text of the newest assistant message: the answer, once the turn ends without tool calls. */
  text = "";
  truncated = false;
  /** The number of tokens of the newest answer when it reached its limit, if that is known. */
  outputLimit: number | undefined;
  /** Calls that failed or read something, and how often with the same result, since something changed. */
  readonly repeatedCalls = new Map<
    string,
    { readonly result: string; readonly times: number; readonly most: number }
  >();
  /** The number of answers in a row that ended in the middle of a call. */
  cutCalls = 0;
  /** An answer was empty: the next request says so, once in a turn. */
  emptyAnswer: "told" | "untold" | undefined;
  /** The conversation was compacted because it was too long, and no answer has come since. */
  compacted = false;
  outcome: TurnOutcome | undefined;
  failure: Failure | undefined;
  /** A hook ended the turn on purpose. */
  stopped: Failure | undefined;
  /** Calls that a hook denies, or that need a question because of a hook. A hook never widens a permission. */
  readonly held = new Map<CallId, HeldCall>();
  /** See `ToolContext.unchanged`. */
  unchanged: object = {};
  /** Calls that needed a permission which no client could give. */
  readonly unanswered: Unanswered[] = [];

  constructor(options: TurnOptions) {
    this.id = options.id;
    this.input = options.input;
    this.notice = options.notice;
    this.bus = options.bus;
    this.ports = options.ports;
    this.route = options.route;
    this.commandFile = options.commandFile;
    this.calls = options.calls;
    this.queued = options.queued ?? 0;
    this.takeSteering = options.takeSteering ?? (() => []);
    this.model = options.model;
    this.abort = options.abort;
    this.conversation = options.conversation;
    this.timing = new Timing(options.ports.clock);
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  get cancelReason(): CancelReason | undefined {
    return this.signal.aborted ? (this.signal.reason as CancelReason) : undefined;
  }

  /** The usage of each model, in the order of first use. */
  get shares(): readonly ModelShare[] {
    return [...this.#shares.values()];
  }

  /** Reports which rule of a route chose the model, whenever it is another one. */
  recordRouting({ provider, model, route = "", rule }: AnsweringModel): void {
    if (rule === undefined || rule === this.#rule) return;
    this.#rule = rule;
    this.bus.publish("ModelRouted", { turn: this.id, route, rule, provider, model });
  }

  /** Adds the tokens and the cost of a model call; no cost means unknown. */
  pay(usage: Usage, cost: Cost | undefined, { provider, model }: Pick<ModelShare, "provider" | "model">): void {
    const key = `${provider}:${model}`;
    const share = this.#shares.get(key);
    const isKnown = cost !== undefined && (share === undefined || share.cost !== undefined);
    this.#shares.set(key, {
      provider,
      model,
      calls: (share?.calls ?? 0) + 1,
      usage: addUsage(share?.usage ?? NO_USAGE, usage),
      ...(isKnown && { cost: share?.cost === undefined ? cost : addCost(share.cost, cost) }),
    });
    this.usage = addUsage(this.usage, usage);
    if (this.cost === "unknown" || cost === undefined) this.cost = "unknown";
    else this.cost = this.cost === undefined ? cost : addCost(this.cost, cost);
  }

  /** Ends the turn with a failure; the first one counts. */
  fail(cause: Failure): void {
    if (this.failure !== undefined) return;
    this.failure = cause;
    if (isLimit(cause.reason)) this.outcome ??= "limit";
  }

  /** Ends the turn because a hook stopped it; the first reason counts. */
  stop(hook: string, reason: string): void {
    this.stopped ??= failure("StoppedByHook", { hook, detail: reason });
  }
}
