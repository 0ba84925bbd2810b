/** Describes what the built-in hooks and links need; the parts of a session supply it (`runtime/part.ts`). */

import type { CallBudget, CallLog } from "../costs/budget.js";
import type {
  AnsweringModel,
  CallFacts,
  Effort,
  EnginePorts,
  Model,
  ModelRequest,
  RequestLink,
  Tool,
  ToolCall,
  ToolLink,
  ToolRegistry,
} from "../engine/ports.js";
import type { StageHook, Turn } from "../engine/turn.js";
import type { ApprovalGate, CompactionReason, CompactionWatcher } from "../feature/part.js";
import type { Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { Failure } from "../protocol/errors.js";
import type { EventPayloads, PermissionDecision } from "../protocol/events.js";
import type { CallId } from "../protocol/ids.js";
import type { ModelFacts } from "../providers/catalogue/facts.js";
import type { RetryOptions } from "../providers/retry/attempts.js";
import type { PermissionMode } from "../security/permissions/modes.js";
import type { Verdict } from "../security/permissions/verdict.js";
import type { LogFunction } from "../system/log.js";
import type { OutsideResults } from "./outside-results.js";

export type { CompactionAnswer, CompactionWatcher, StartedCompaction } from "../feature/part.js";

/** Describes how a tool link asks the user. */
export interface Person {
  /** False when no attached client can answer. */
  present(): boolean;
  ask(question: Question, signal: AbortSignal): Promise<PersonAnswer>;
  /** Records a decision that needed no question. */
  record(call: CallId, tool: string, answer: PersonAnswer): void;
}

export type Question = Pick<
  EventPayloads["PermissionRequested"],
  "call" | "tool" | "args" | "summary" | "reason" | "offer" | "once_only" | "preview"
>;

export interface PersonAnswer {
  readonly decision: PermissionDecision;
  readonly decidedBy: string;
  readonly message?: string;
  /** There was no answer in time. */
  readonly unanswered?: { readonly afterMs: number };
}

/** Decides whether a call may run, and remembers what the user allowed for the session. */
export interface PermissionJudge {
  readonly mode: PermissionMode;
  judge(call: ToolCall, tool: Tool): Verdict | Promise<Verdict>;
  remember(call: ToolCall, decision: PermissionDecision, about: { readonly verdict: Verdict }): void;
}

export type Log = LogFunction;

/** A part of the run that receives its events; the names in `subscribers/` give the order. */
export interface EventObserver {
  onEvent?(event: Envelope): void;
}

/** The log of the run, if there is one. */
export interface RunJournal {
  record(event: Envelope): void;
  /** Resolves when the session can be stored; rejects when it cannot. */
  ready?(): Promise<void>;
  /** Resolves when the start of the call is on disk; rejects when it cannot be written. */
  intend(call: ToolCall, about?: { readonly isWhole?: Promise<boolean> | undefined }): Promise<void>;
  /** The conversation as the user edited it since the last turn; undefined without edits. */
  editedConversation(): Promise<readonly Message[] | undefined>;
  /** Resolves when everything so far is saved, rejects when it cannot be. */
  flush(): Promise<void>;
  /** Milliseconds spent on writing since the last call. */
  takeWriteMs(): number;
}

/** Records what calls change, so that undo can revert it. */
export interface ChangeRecorder extends EventObserver {
  begin(call: {
    readonly call: CallId;
    readonly tool: string;
    /** `announced`: a file tool reports each change. `held`: those of a command are reported before they are applied. `unknown`: nothing reports them. */
    readonly changes: "announced" | "held" | "unknown";
  }): Promise<{
    /** Changes that are announced during this belong to the call. */
    during<T>(act: () => Promise<T>): Promise<T>;
    end(options: { readonly goesOn: boolean }): Promise<readonly string[]>;
  }>;
  /** Tells whether the changes of this call are held back and announced before they are applied. */
  holdsBack?(call: ToolCall, tool: Tool): Promise<boolean>;
  /** Tells whether all that it does happens at once when its changes are applied, or not at all. */
  isWhole?(call: ToolCall, tool: Tool, openings: readonly string[]): Promise<boolean>;
}

/** The approved instructions of a folder. */
export interface ProjectReading {
  /** Instructions of folders that these paths touch for the first time. */
  touched(paths: readonly string[]): Promise<string | undefined>;
  /** The conversation was compacted: the model gets them again. */
  forget(): void;
}

export interface ModelFit {
  readonly prompt: "full" | "small";
  /** Tools that the model does not get. */
  readonly without: readonly string[];
}

/** Costs and budgets of calls. */
export interface CostTracker extends EventObserver {
  /** Never rejects. Loads the catalogue, so call it after the request has been sent. */
  facts(model: PricedModel): Promise<ModelFacts>;
  /** The budget of this turn; undefined without a limit. */
  callBudget(): Promise<CallBudget> | undefined;
  /** Finds the place where the log of the next call begins; undefined if nothing is stored. */
  callLog?(): Promise<CallLog | undefined>;
  /** Says whether a budget counts dollars; then a model without a price cannot be called. */
  readonly countsDollars: boolean;
  /** Tells how the user raises the budget of this scope. */
  adviceFor(scope: string): string;
  /** Tells how the user sets the price of a model, as the beginning of a sentence. */
  priceAdvice(model: string): string;
  /** Tells how full the model's window is, if the user should know now. */
  windowNews(model: Model): Promise<WindowNews | undefined>;
}

/** A model, or the name of one. */
export type PricedModel = AnsweringModel &
  Pick<Model, "contextTokens" | "contextLimit" | "outputTokens" | "ownPrice" | "candidates">;

/** Compacts conversations that are or soon will be too long for their model. */
export interface Compaction extends EventObserver {
  /** Tells whether the conversation leaves too little room for the request that is about to be sent. Usually one comparison. */
  isDue(turn: Turn): boolean | Promise<boolean>;
  /** The conversation is sent with this request. */
  sent?(request: ModelRequest, model: Model, facts: CallFacts | undefined): void;
  /** False when it did not change; the user knows why. */
  shorten(turn: Turn, reason: CompactionReason): Promise<boolean>;
  /** Tells the watcher about each compaction from now on. */
  watch?(watcher: CompactionWatcher): void;
}

export interface WindowNews {
  /** PROVIDER:MODEL. */
  readonly model: string;
  /** Tokens of the conversation, and how many the model can read. */
  readonly used: number;
  readonly window: number;
}

/** Keeps results that are too long for a request. */
export interface ResultFiles {
  /** Saves the text in a file that the model can read. Returns a clause that says where it is and how to read on from a line. */
  save(text: string): Promise<(line: number) => string>;
}

export interface ChainServices {
  /** For advice that names it. */
  readonly session?: string;
  readonly tools: ToolRegistry;
  readonly gate: PermissionJudge;
  /** Review the decisions of the judge. */
  readonly approvalGates?: readonly ApprovalGate[];
  readonly person: Person;
  readonly log: Log;
  readonly journal?: RunJournal;
  readonly undo?: ChangeRecorder;
  readonly outputs?: ResultFiles;
  readonly content?: ProjectReading | undefined;
  readonly costs?: CostTracker;
  /** Says how often and how long to retry a failing model call; without it, never. */
  readonly retry?: RetryOptions;
  /** The model behind a route's name. */
  openRoute?(name: string): Promise<{ readonly model: Model } | { readonly failure: Failure }>;
  readonly compaction?: Compaction;
  /** Marks results from outside; without it, requests contain them unmarked. */
  readonly outside?: OutsideResults;
  /** The system prompt. Called once per model call; it must return the same bytes for a model within a session. */
  systemPrompt(size: "full" | "small"): string;
  /** Tells what a model is too weak for; empty for a model that was not measured. */
  fit?(model: Model): Promise<ModelFit | undefined>;
  readonly maxOutputTokens?: number;
  /** Holds what the variant of this session adds to the system prompt. */
  readonly promptVariant?: string;
  /** The place of the next model call. */
  callFacts?(): CallFacts;
  /** Tells how much the model thinks, at present. */
  effort?(): Effort | undefined;
}

export type CreateHook = (services: ChainServices) => StageHook;
export type CreateRequestLink = (services: ChainServices) => RequestLink["run"];
export type CreateToolLink = (services: ChainServices) => ToolLink["run"];
export type CreateSubscriber = (services: ChainServices) => (event: Envelope) => void;

export type EarlyStart = EnginePorts["mayStartEarly"];
