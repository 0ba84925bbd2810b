/**
 * The interfaces that the loop needs. The engine implements none of them: `runtime` supplies them.
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
import type { StopReason, ToolKind, ToolStatus } from "../protocol/events.js";
import type { CallId } from "../protocol/ids.js";
import type { JsonObject } from "../protocol/json.js";
import type { Cost, Usage } from "../protocol/usage.js";
import type { Turn } from "./turn.js";

/* ---- models ---- */

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** One parameter may be written as plain text of this grammar (Lark) instead of JSON, where the service supports that. */
  readonly freeform?: { readonly parameter: string; readonly grammar: string };
  /** Names of other harnesses that a model may write in a text instead. They are not offered. */
  readonly alsoNamed?: readonly string[];
}

/** The amount of thinking, for models that support that. */
export type Effort = "low" | "medium" | "high";

/** One model call in canonical form. The bytes before the newest message must not change from call to call. */
export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly maxOutputTokens?: number;
  /** The answer must be one JSON value of this schema. Servers that support it enforce that. */
  readonly answerSchema?: JsonObject;
  readonly effort?: Effort;
  /** The provider searches the web for the answer; only for a model with `searchesWeb`. */
  readonly webSearch?: true;
  /** The same for all calls with the same beginning, so that a provider can send them to the machine with the cache. */
  readonly cacheKey?: string;
}

export type { StopReason };

/** A finished tool call as a wire saw it; the engine gives it its call id. */
export interface ModelToolCall {
  readonly type: "tool_call";
  readonly tool: string;
  readonly args: JsonObject;
  /** The raw argument text, if it was not one complete JSON object. */
  readonly malformed?: string;
}

/** A call that Oxbow makes for a person, instead of the model. */
export type PreparedCall = Pick<ModelToolCall, "tool" | "args">;

export type ModelBlock = TextBlock | ThinkingBlock | OpaqueBlock | YieldBlock | ModelToolCall;

export interface FoundSource {
  readonly title: string;
  readonly url: string;
  /** Words of the page. */
  readonly excerpt?: string;
  /** The passage of the answer that rests on it. */
  readonly cites?: string;
}

export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** A block is complete. For text and thinking it holds the whole text of the deltas. */
  | { readonly type: "block"; readonly block: ModelBlock }
  /** The newest count of this call; later ones replace earlier ones. */
  | { readonly type: "usage"; readonly usage: Usage; readonly cost?: Cost }
  /** A page that the provider's search found. */
  | ({ readonly type: "source" } & FoundSource)
  /** The provider's search did not work. */
  | { readonly type: "unsearched"; readonly reason: string }
  /** For the user; not part of the answer. */
  | { readonly type: "notice"; readonly level: "progress" | "warning"; readonly message: string }
  | { readonly type: "stop"; readonly reason: StopReason }
  | { readonly type: "failure"; readonly failure: Failure }
  | AttemptEvent;

/** Events that links and composed models add between attempts; a wire never does. */
export type AttemptEvent =
  /** The model of the following events. */
  | { readonly type: "answering"; readonly by: AnsweringModel }
  /** The attempt failed; the next one starts after the wait. The text so far stays, and the next attempt does not repeat it. */
  | { readonly type: "again"; readonly failure: Failure; readonly waitMs: number; readonly attempt: number }
  /** The model could not answer; the next model of the route is used. */
  | { readonly type: "failover"; readonly failure: Failure; readonly to: AnsweringModel }
  /** Withdraws the text of this answer so far; it contains no call. */
  | { readonly type: "retract"; readonly reason: FailureReason }
  /** The stream broke after complete calls: they are the answer, and the turn continues with them. */
  | { readonly type: "cut"; readonly failure: Failure };

export interface AnsweringModel {
  readonly provider: string;
  readonly family: string;
  readonly model: string;
  /** The route through which it was chosen. */
  readonly route?: string;
  /** The rule of the route that chose it, or `default`; absent for a route without rules. */
  readonly rule?: string;
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
  /** The context window, if the server reported it. */
  readonly contextTokens?: number;
  /** The same, if it needs a request to the server or depends on the machine. */
  contextLimit?(): Promise<number | undefined>;
  /** The longest answer, if set for its provider. */
  readonly outputTokens?: number;
  /** Its service can search the web for an answer. */
  readonly searchesWeb?: true;
  /** Its service needs a limit for each answer. */
  readonly needsOutputLimit?: true;
  /** US dollars per million tokens from its provider's list; undefined without one. */
  ownPrice?(): Promise<ModelPrice | undefined>;
  /** Its models, if it is made of several. */
  candidates?(): Promise<readonly Model[]>;
  stream(request: ModelRequest, context: RequestContext): ModelStream;
  /** The provider's exact count of the request; undefined if it does not answer. */
  countTokens?(request: ModelRequest, context: RequestContext): Promise<number | undefined>;
}

export interface RequestContext {
  readonly model: Model;
  readonly signal: AbortSignal;
  /** Absent for work beside the conversation, such as a summary. */
  readonly facts?: CallFacts;
  /** Gets the raw request and answer, if the session writes them down. */
  readonly trace?: (record: JsonObject) => void;
}

/** The place of a model call. */
export interface CallFacts {
  /** The number of the turn in its session, from 1. */
  readonly turn: number;
  /** The type of the subagent that makes it. */
  readonly agent?: string;
}

/* ---- tools ---- */

export type ToolSet = "read" | "edit" | "command" | "web" | "agents";

export interface ToolCall {
  readonly call: CallId;
  readonly tool: string;
  readonly args: JsonObject;
}

export interface ToolContext {
  readonly call?: CallId | undefined;
  readonly signal: AbortSignal;
  /** The openings of the sandbox that the user allowed this call. */
  readonly openings?: readonly string[];
  /** Shown live; not part of the result. */
  progress(text: string): void;
  /** The user typed the call; no model was involved. */
  readonly byPerson?: true;
  /** It runs because it only reads, not because the user, a rule or the mode allowed it. */
  readonly unasked?: true;
  /** Guarded paths that the user allowed for this call: absolute, without links. */
  readonly granted?: readonly string[];
  /** A person, a rule or the mode allowed this call itself, not only what stays contained. */
  readonly approved?: true;
  /** Asks the person about what the call turned out to do. Without a person the answer is no. */
  ask?(question: LateQuestion): Promise<boolean>;
  /** The same object for all calls of a turn between which no call could change anything: a read may keep its result for it. */
  readonly unchanged?: object;
}

export interface LateQuestion {
  readonly summary: string;
  readonly reason: string;
  readonly preview?: string;
  /** An offer: the call goes on without it, so nothing is missing without a person. */
  readonly isOffer?: true;
  /** Called before the answer when a person said no: a question without an answer is no such no. */
  readonly onNo?: () => void;
}

export interface ToolOutcome {
  readonly status: ToolStatus;
  readonly content: readonly ResultContent[];
  readonly details?: JsonObject;
  /** The name of what allowed the call without a question. */
  readonly decidedBy?: string;
}

export interface ToolExtension {
  readonly path: string;
  /** The openings of the sandbox that it needs, such as `network`; the user is asked. */
  readonly needs: readonly string[];
}

export interface Tool extends ToolSpec {
  readonly set: ToolSet;
  /** Says what it does, for clients and for permissions; those ignore it in a tool of an extension. */
  readonly kind?: ToolKind;
  /** May run beside other safe tools and start before the model has finished its answer. */
  readonly concurrencySafe: boolean;
  /** Makes changes outside the conversation. */
  readonly mutating: boolean;
  /** Tells whether a call with these arguments changes nothing, for a tool that can do both. */
  onlyReads?(args: JsonObject): boolean;
  /** It comes from an extension: permissions never treat it as a built-in tool, whatever its name. */
  readonly extension?: ToolExtension;
  /** Its results are its own text or already marked, so they need no marks. */
  readonly ownResults?: boolean;
  /** The tool that some models get instead, where it is offered. A call by this name still runs. */
  readonly replacedBy?: { readonly tool: string; readonly models: (model: string) => boolean };
  /** A list of tools that names that one means this one, too. */
  readonly comesWith?: string;
  /** The other tools can replace it: a weak model does not get it, because fewer choices cause fewer mistakes. */
  readonly expendable?: boolean;
  /** A long result is a part that was asked for, and says how to get the next one. */
  readonly pages?: boolean;
  /** Replaces the default check of arguments: returns the problems, a line each. */
  check?(args: JsonObject): readonly string[] | Promise<readonly string[]>;
  /** Says what a call would do, for the question about it. Permissions ignore that of an extension. */
  describe?(args: JsonObject): string;
  /** The one spelling of arguments that have several, so that the question about a call names what will be used. */
  canonical?(args: JsonObject): JsonObject | Promise<JsonObject>;
  /** The ways in which models that know other harnesses call it; `read-call.ts` reads every call with it. */
  readonly habits?: ToolHabits;
  run(args: JsonObject, context: ToolContext): Promise<ToolOutcome>;
}

/**
 * Names, parameters and values of other harnesses that mean the same as ours. Letter case, `-` and `_` do not matter in them. A field of
 * the items of a list is written `edits.old`.
 */
export interface ToolHabits {
  /** Other names of the tool. */
  readonly names?: readonly string[];
  /** Our name of a parameter, and its other names. */
  readonly parameters?: Readonly<Record<string, readonly string[]>>;
  /** Parameters that the tool reads although its schema does not offer them. */
  readonly also?: Readonly<Record<string, JsonObject>>;
  /** For a parameter: other values, in lower case, and ours. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Parameters that change nothing here, as `plain` names (lower case, no `_`), with a note for the model or "" for none. */
  readonly unused?: Readonly<Record<string, string>>;
  /**
   * Converts what a table cannot say. It gets our names, plain names for the others, and the plain name by which the tool was called.
   * Undefined: nothing to convert.
   */
  convert?(args: JsonObject, called: string): Conversion | undefined;
}

export type Conversion =
  | {
      readonly args: JsonObject;
      /** The tool that the call is for, if it is another one. */
      readonly tool?: string;
      readonly notes?: readonly string[];
    }
  | { readonly refused: string };

export interface ToolRegistry {
  list(): readonly Tool[];
  /** By its own name. */
  find(name: string): Tool | undefined;
  /** Tells what to use instead of a tool of other harnesses that does not exist here, by its plain name. */
  lacks?(plainName: string): string | undefined;
}

/* ---- chains ---- */

/** One middleware. It may call `next` again (retry) or not at all (refusal). */
export interface Link<Input, Context, Output> {
  readonly name: string;
  run(input: Input, context: Context, next: Next<Input, Context, Output>): Promise<Output>;
}

/** The rest of the chain; a link that changes the context (a deadline, another model) passes its own. */
export type Next<Input, Context, Output> = (input: Input, context?: Context) => Promise<Output>;

export interface ToolLinkContext extends ToolContext {
  readonly definition: Tool;
  /** Absent for a read that is repeated while a session is resumed. */
  readonly turn?: Turn;
  /** Resolves when the call may start; absent if nothing must be written first. */
  readonly intended?: Promise<void>;
}

export type RequestLink = Link<ModelRequest, RequestContext, ModelStream>;
export type ToolLink = Link<ToolCall, ToolLinkContext, ToolOutcome>;

/** An unfinished answer. */
export interface CutOffAnswer {
  readonly request: ModelRequest | undefined;
  readonly by: AnsweringModel;
  /** The provider's count so far. */
  readonly usage: Usage;
  /** The text that arrived. */
  readonly words: string;
}

/** The ports of one run, shared by the loop, dispatch and the stage hooks. */
export interface EnginePorts {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly requestLinks: readonly RequestLink[];
  readonly toolLinks: readonly ToolLink[];
  readonly tools: ToolRegistry;
  /** Called before the first stage and before each iteration: tools and hooks may come and go. Must not throw. */
  readonly refresh?: (turn: Turn) => Promise<void>;
  /** Tells whether a call may run before the model has finished: false if the user might be asked. */
  mayStartEarly(call: ToolCall, tool: Tool): boolean;
  /** Sees each block of an answer as it completes, in order, before a call in it runs. */
  readonly onBlock?: (block: AssistantBlock) => void;
  /** The name of the session's prompt variant, for the log. */
  readonly promptVariant?: string;
  readonly toolExecution: "batched" | "sequential";
  readonly maxIterations: number;
  /** A longer answer ends the turn as a failure. */
  readonly maxAnswerCharacters?: number;
  /** The estimated cost of an interrupted answer. */
  readonly countCutOff?: (answer: CutOffAnswer) => Promise<{ readonly usage: Usage; readonly cost?: Cost }>;
}
