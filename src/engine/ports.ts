/**
 * What the loop needs from the world, as interfaces. The engine implements none of them: `runtime` supplies them.
 */
import type { Clock } from "../base/clock.js";
import type { IdSource } from "../base/ulid.js";
import type {
  AssistantBlock,
  Message,
  OpaqueBlock,
  ResultContent,
  TextBlock,
  ThinkingBlock,
  YieldBlock,
} from "../protocol/content.js";
import type { Failure, FailureReason } from "../protocol/errors.js";
import type { StopReason, ToolStatus } from "../protocol/events.js";
import type { CallId } from "../protocol/ids.js";
import type { JsonObject } from "../protocol/json.js";
import type { Cost, Usage } from "../protocol/usage.js";
import type { Turn } from "./turn.js";

/* ---- models ---- */

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** How much a model shall think, where it can be told. */
export type Effort = "low" | "medium" | "high";

/** One model call in canonical form. The bytes before the newest message must not change from call to call. */
export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly maxOutputTokens?: number;
  /** The answer is to be one JSON value of this schema. Servers that can do so let the model write nothing else. */
  readonly answerSchema?: JsonObject;
  readonly effort?: Effort;
  /** The same for all calls whose beginnings are the same: a provider that has several machines finds the one that knows it. */
  readonly cacheKey?: string;
}

export type { StopReason };

/** A finished tool call as a wire saw it; the engine gives it its call id. */
export interface ModelToolCall {
  readonly type: "tool_call";
  readonly tool: string;
  readonly args: JsonObject;
  /** The argument text as it came, when it was not one complete JSON object. */
  readonly malformed?: string;
}

export type ModelBlock = TextBlock | ThinkingBlock | OpaqueBlock | YieldBlock | ModelToolCall;

export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** A block is complete. For text and thinking it repeats what the deltas said, as one piece. */
  | { readonly type: "block"; readonly block: ModelBlock }
  /** The newest count of this call; later ones replace earlier ones. */
  | { readonly type: "usage"; readonly usage: Usage; readonly cost?: Cost }
  /** For people, no part of the answer. */
  | { readonly type: "notice"; readonly level: "progress" | "warning"; readonly message: string }
  | { readonly type: "stop"; readonly reason: StopReason }
  | { readonly type: "failure"; readonly failure: Failure }
  | AttemptEvent;

/** What links and composed models add between the attempts at one answer; a wire never does. */
export type AttemptEvent =
  /** Whose words follow. */
  | { readonly type: "answering"; readonly by: AnsweringModel }
  /** The attempt failed; the next begins after the wait. What was said so far stands, and the next does not say it again. */
  | { readonly type: "again"; readonly failure: Failure; readonly waitMs: number; readonly attempt: number }
  /** The model could not answer; another one of its route is asked. */
  | { readonly type: "failover"; readonly failure: Failure; readonly to: AnsweringModel }
  /** What was said so far in this answer does not count; it holds no call. */
  | { readonly type: "retract"; readonly reason: FailureReason }
  /** The stream broke after complete calls: they are the answer, and the turn continues with them. */
  | { readonly type: "cut"; readonly failure: Failure };

export interface AnsweringModel {
  readonly provider: string;
  readonly family: string;
  readonly model: string;
  /** The route through which it was chosen. */
  readonly route?: string;
}

/** Events in batches, one for each read of the network: a promise per token would cost more than the tokens. */
export type ModelStream = AsyncIterable<readonly ModelEvent[]>;

export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
}

export interface Model {
  /** The provider's name: `anthropic`, `ollama`, … */
  readonly provider: string;
  /** Models of one family understand each other's thinking blocks. */
  readonly family: string;
  readonly model: string;
  /** What it can read and write together, where its server told. */
  readonly contextTokens?: number;
  /** The same, where its server has to be asked, or it depends on the machine. */
  contextLimit?(): Promise<number | undefined>;
  /** The longest answer it is to give, where that was set for its provider. */
  readonly outputTokens?: number;
  /** US dollars per million tokens as its provider lists them, where it does; undefined when it does not answer. */
  ownPrice?(): Promise<ModelPrice | undefined>;
  /** The models it may ask, when it is made of several. */
  candidates?(): Promise<readonly Model[]>;
  stream(request: ModelRequest, context: RequestContext): ModelStream;
  /** What the request counts as input, where the provider offers to say; undefined when it does not answer. */
  countTokens?(request: ModelRequest, context: RequestContext): Promise<number | undefined>;
}

export interface RequestContext {
  readonly model: Model;
  readonly signal: AbortSignal;
}

/* ---- tools ---- */

export type ToolSet = "read" | "edit" | "command" | "git" | "web";

export interface ToolCall {
  readonly call: CallId;
  readonly tool: string;
  readonly args: JsonObject;
}

export interface ToolContext {
  readonly signal: AbortSignal;
  /** What the sandbox is opened for, because a person allowed this call. */
  readonly openings?: readonly string[];
  /** Shown live; not part of the result. */
  progress(text: string): void;
  /** A person typed the call themselves; no model has a part in it. */
  readonly byPerson?: true;
  /** It runs because it was judged to only read: neither a person nor their rules or mode allowed it. */
  readonly unasked?: true;
  /** Guarded paths that a person said yes to for this call: absolute and free of links. */
  readonly granted?: readonly string[];
}

export interface ToolOutcome {
  readonly status: ToolStatus;
  readonly content: readonly ResultContent[];
  readonly details?: JsonObject;
  /** What let the call run unasked. */
  readonly decidedBy?: string;
}

export interface Tool extends ToolSpec {
  readonly set: ToolSet;
  /** May run beside other safe tools and start before the model has finished its answer. */
  readonly concurrencySafe: boolean;
  /** Changes something outside the conversation. */
  readonly mutating: boolean;
  /** What it answers are its own words, or delimited by itself: not content from outside that has to be delimited. */
  readonly ownResults?: boolean;
  /** Brings arguments under names that other harnesses use into the form of the schema, before they are checked. */
  canonical?(args: JsonObject): JsonObject | Promise<JsonObject>;
  run(args: JsonObject, context: ToolContext): Promise<ToolOutcome>;
}

export interface ToolRegistry {
  list(): readonly Tool[];
  find(name: string): Tool | undefined;
}

/* ---- chains ---- */

/** One middleware. `next` may be called again (retry) or not at all (refusal). */
export interface Link<Input, Context, Output> {
  readonly name: string;
  run(input: Input, context: Context, next: Next<Input, Context, Output>): Promise<Output>;
}

/** The rest of the chain; a link that narrows the context (a deadline, another model) hands its own on. */
export type Next<Input, Context, Output> = (input: Input, context?: Context) => Promise<Output>;

export interface ToolLinkContext extends ToolContext {
  readonly definition: Tool;
  /** Absent for a read that is repeated while a session is resumed. */
  readonly turn?: Turn;
  /** Resolves when the call may begin; absent when nothing has to be written first. */
  readonly intended?: Promise<void>;
}

export type RequestLink = Link<ModelRequest, RequestContext, ModelStream>;
export type ToolLink = Link<ToolCall, ToolLinkContext, ToolOutcome>;

/** An answer that did not come to its end. */
export interface CutOffAnswer {
  readonly request: ModelRequest | undefined;
  readonly by: AnsweringModel;
  /** What the provider had counted by then. */
  readonly usage: Usage;
  /** What had arrived. */
  readonly words: string;
}

/** Wiring of one run, shared by the loop, dispatch and the stage hooks. */
export interface EnginePorts {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly requestLinks: readonly RequestLink[];
  readonly toolLinks: readonly ToolLink[];
  readonly tools: ToolRegistry;
  /** Whether a call may run before the model has finished: false when a person might have to be asked. */
  mayStartEarly(call: ToolCall, tool: Tool): boolean;
  /** Sees each block of an answer as it completes, in order, before a call in it runs. */
  readonly onBlock?: (block: AssistantBlock) => void;
  readonly toolExecution: "batched" | "sequential";
  readonly maxIterations: number;
  /** A longer answer ends the turn as a failure. */
  readonly maxAnswerCharacters?: number;
  /** What an answer that was cut off is taken to have cost. */
  readonly countCutOff?: (answer: CutOffAnswer) => Promise<{ readonly usage: Usage; readonly cost?: Cost }>;
}
