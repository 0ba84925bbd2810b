/** What the built-in hooks and links need; the parts of a session supply it (`runtime/part.ts`). */
import type { CompactionReason } from "../context/compaction/compact.js";
import type { CallBudget } from "../costs/budget.js";
import type {
  AnsweringModel,
  Effort,
  EnginePorts,
  Model,
  RequestLink,
  Tool,
  ToolCall,
  ToolLink,
  ToolRegistry,
} from "../engine/ports.js";
import type { Stage, StageHook, Turn } from "../engine/turn.js";
import type { Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { Failure } from "../protocol/errors.js";
import type { PermissionDecision } from "../protocol/events.js";
import type { CallId } from "../protocol/ids.js";
import type { JsonObject } from "../protocol/json.js";
import type { ModelFacts } from "../providers/catalogue/facts.js";
import type { RetryOptions } from "../providers/retry/attempts.js";
import type { PermissionMode } from "../security/permissions/modes.js";
import type { Verdict } from "../security/permissions/verdict.js";
import type { OutsideResults } from "./outside-results.js";

/** The people who may be asked, seen from a tool link. */
export interface Person {
  /** False when no attached client can answer. */
  present(): boolean;
  ask(question: Question, signal: AbortSignal): Promise<PersonAnswer>;
  /** Records a decision that needed no question. */
  record(call: CallId, tool: string, answer: PersonAnswer): void;
}

export interface Question {
  readonly call: CallId;
  readonly tool: string;
  readonly args: JsonObject;
  readonly summary: string;
  readonly reason?: string;
  readonly offer?: readonly string[];
}

export interface PersonAnswer {
  readonly decision: PermissionDecision;
  readonly decidedBy: string;
  readonly message?: string;
  /** There was no answer in time. */
  readonly unanswered?: { readonly afterMs: number };
}

/** Decides whether a call may run, and keeps what a person allowed for the session. */
export interface PermissionJudge {
  readonly mode: PermissionMode;
  judge(call: ToolCall, tool: Tool): Verdict | Promise<Verdict>;
  remember(call: ToolCall, decision: PermissionDecision, about: { readonly verdict: Verdict }): void;
}

export type Log = (
  level: "error" | "warn" | "info" | "debug" | "trace",
  component: string,
  message: string,
  fields?: JsonObject,
) => void;

/** A part of the run that follows its events; `subscribers/` says in which order. */
export interface EventObserver {
  onEvent?(event: Envelope): void;
}

/** The log of the run, where there is one. */
export interface RunJournal {
  record(event: Envelope): void;
  /** Resolves when it is known that the session can be kept; rejects when it cannot. */
  ready?(): Promise<void>;
  /** Resolves when it is on the disk that the call begins; rejects when that cannot be. */
  intend(call: ToolCall): Promise<void>;
  /** The conversation as the user edited it since the last turn; undefined without edits. */
  editedConversation(): Promise<readonly Message[] | undefined>;
  /** Resolves when everything so far is saved, rejects when it cannot be. */
  flush(): Promise<void>;
  /** Milliseconds spent on writing since the last call. */
  takeWriteMs(): number;
}

/** Writes down what calls change, so that it can be undone. */
export interface ChangeRecorder extends EventObserver {
  begin(call: {
    readonly call: CallId;
    readonly tool: string;
    /** `announced`: every change goes through the workspace, which reports it. `watched`: its changes are not known in advance. */
    readonly changes: "announced" | "watched";
  }): Promise<{ end(options: { readonly goesOn: boolean }): Promise<readonly string[] | undefined> }>;
  /** Resolves when the calls that have ended are written down. */
  flush(): Promise<void>;
}

/** Looks for what commands have left for other programs to run, and tells the person. */
export interface LeftoverCheck {
  /** Resolves when everything so far was looked at. */
  flush(): Promise<void>;
}

/** What a folder brings for the model to read, as far as it was approved. */
export interface ProjectReading {
  /** Instructions of folders that these paths are the first to touch. */
  touched(paths: readonly string[]): Promise<string | undefined>;
  /** The conversation that they were told in was shortened: they are told again. */
  forget(): void;
}

export interface ModelFit {
  readonly prompt: "full" | "small";
  /** Tools that are not offered to it. */
  readonly without: readonly string[];
}

/** What calls cost and may cost. */
export interface CostKeeper extends EventObserver {
  /** Never rejects. Loads the catalogue: to be asked when the request is on its way. */
  facts(model: PricedModel): Promise<ModelFacts>;
  /** Where the calls of this turn are paid from; undefined when nothing limits them. */
  callBudget(): Promise<CallBudget> | undefined;
  /** Whether a budget counts dollars: then a model without a price cannot be called. */
  readonly countsDollars: boolean;
  /** How the budget of this scope is raised. */
  adviceFor(scope: string): string;
  /** How the price of a model is given, as the beginning of a sentence. */
  priceAdvice(model: string): string;
  /** How full the model's window is, when that should be said now. */
  windowNews(model: Model): Promise<WindowNews | undefined>;
}

/** A model, or the name of one. */
export type PricedModel = AnsweringModel &
  Pick<Model, "contextTokens" | "contextLimit" | "outputTokens" | "ownPrice" | "candidates">;

/** Makes conversations shorter that are about to be, or are, too long for their model. */
export interface Compaction extends EventObserver {
  /** Whether the conversation leaves too little room for the request that is about to be sent. A comparison, as long as it is far from that. */
  isDue(turn: Turn): boolean | Promise<boolean>;
  /** False when it stays as it is; why has been told then. */
  shorten(turn: Turn, reason: CompactionReason): Promise<boolean>;
}

export interface WindowNews {
  /** PROVIDER:MODEL. */
  readonly model: string;
  /** Tokens of the conversation, and how many the model can read. */
  readonly used: number;
  readonly window: number;
}

export interface ChainServices {
  /** For advice that names it. */
  readonly session?: string;
  readonly tools: ToolRegistry;
  readonly gate: PermissionJudge;
  readonly person: Person;
  readonly log: Log;
  readonly journal?: RunJournal;
  readonly undo?: ChangeRecorder;
  readonly leftovers?: LeftoverCheck;
  readonly content?: ProjectReading | undefined;
  readonly costs?: CostKeeper;
  /** How often and how long a model call that fails is tried again; without it, never. */
  readonly retry?: RetryOptions;
  /** The model behind a route's name. */
  openRoute?(name: string): Promise<{ readonly model: Model } | { readonly failure: Failure }>;
  readonly compaction?: Compaction;
  /** Delimits what tools brought from outside; without it, it is sent as it is. */
  readonly outside?: OutsideResults;
  /** Keeps what `/audit` and `/why` show. */
  readonly audit?: EventObserver;
  /** The system prompt. Called once per model call; it must answer the same bytes for a model within a session. */
  systemPrompt(size: "full" | "small"): string;
  /** What a model was measured to be too weak for; empty for an unmeasured model. */
  fit?(model: Model): Promise<ModelFit | undefined>;
  readonly maxOutputTokens?: number;
  /** How much the model shall think, as it stands now. */
  effort?(): Effort | undefined;
}

export type CreateHook = (services: ChainServices) => StageHook;
export type CreateRequestLink = (services: ChainServices) => RequestLink["run"];
export type CreateToolLink = (services: ChainServices) => ToolLink["run"];
export type CreateSubscriber = (services: ChainServices) => (event: Envelope) => void;

export type EarlyStart = EnginePorts["mayStartEarly"];

interface Listed<Create> {
  readonly name: string;
  readonly create: Create;
}

/** The shape of `listing.ts`, which is written from the names of the files in this folder. */
export interface ChainListing {
  readonly stages: Readonly<Record<Stage, readonly Listed<CreateHook>[]>>;
  readonly request: readonly Listed<CreateRequestLink>[];
  readonly tool: readonly Listed<CreateToolLink>[];
  readonly subscribers: readonly Listed<CreateSubscriber>[];
}
