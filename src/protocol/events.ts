/**
 * Describes what happened, as typed events. The same events are shown live, stored, replayed and exported, so a
 * payload holds everything a reader needs and nothing that only makes sense inside the process.
 *
 * 1. The union is closed. Plugins use `CustomEvent`.
 * 2. Between a TurnStarted and its TurnEnded no other turn of the same session begins.
 * 3. ToolCallStarted and ToolResult come in the model's order, each exactly once per call.
 * 4. The deltas of an answer contain its text exactly once, however many attempts it took. Only an AnswerRetracted withdraws
 *    them, never after a call of that answer.
 * 5. Waiting inputs are taken oldest first, so a reader that counts InputQueued, InputSteered, InputDropped and `queued` knows what waits.
 */

import type { AnswerShape, StopReason } from "./answer-shape.js";
import type { Identity } from "./client.js";
import type { InputContent, ResultContent } from "./content.js";
import type { Failure, FailureReason } from "./errors.js";
import type { FormField } from "./form.js";
import type { CallId, ClientId, SessionId, TurnId } from "./ids.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { Cost, ModelShare, Usage } from "./usage.js";

export type { AnswerBlock, AnswerShape, StopReason } from "./answer-shape.js";

export type ToolStatus = "ok" | "error" | "denied" | "cancelled" | "timeout" | "skipped";
export type TurnOutcome = "answered" | "limit" | "denied" | "stopped" | "cancelled" | "failed";
export type PermissionDecision = "allow_once" | "allow_pattern" | "allow_tool" | "deny";
/** The ways to decide about calls: `plan` changes nothing; the others are the permission modes. `review` is `auto` with a question for each edit. */
export type SessionMode = "ask" | "auto" | "review" | "allow" | "deny" | "plan";
export type SessionEndReason = "idle" | "user" | "paused" | "error" | "binary-shutdown";

/** The names of a model. */
export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

/** A failed model call that is retried. */
export interface NextAttempt extends ModelName {
  readonly turn: TurnId;
  readonly reason: FailureReason;
  /** One line for the user. */
  readonly message: string;
  /** The wait before the next attempt. */
  readonly wait_ms: number;
  /** The number of attempts that have failed. */
  readonly attempt: number;
}

export type InputDelivery = "queue" | "steer";

/** Both ends belong to it. */
export interface EventRange {
  readonly from: number;
  readonly to: number;
}

/** The kinds of tools, for how a client shows their calls. Absent for a tool that says nothing about it. */
export const TOOL_KINDS = [
  /** Reads a file. */
  "read",
  /** Lists a folder. */
  "list",
  /** Searches everything below a folder. */
  "search",
  /** Changes files. */
  "edit",
  /** Runs a command. */
  "run",
  /** Asks another machine. */
  "fetch",
  /** Keeps the list of what is to be done. */
  "plan",
  /** Asks a person or another model. */
  "ask",
] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** A session that works for a call of another session. */
export interface SubagentName {
  /** The call that started it, in the session that holds this event. */
  readonly call: CallId;
  readonly session: SessionId;
  /** The name of its type. */
  readonly type: string;
}

/**
 * A program asks for a token. A person who wants it passes the code on. One who does not sends the verb `refuse` of the namespace
 * `tokens` with the request.
 */
/** A session that loses content, at the earliest at this time. */
export interface ExpiringSession {
  readonly session: SessionId;
  readonly title?: string;
  readonly expires_at: string;
}

export interface TokenQuestion {
  readonly request: string;
  /** The purpose of the token. */
  readonly asks: string;
  /** `void`: after too many wrong codes. */
  readonly state: "open" | "made" | "refused" | "void";
  /** Only while it is open. */
  readonly code?: string;
  readonly expires_at?: string;
}

export interface EventPayloads {
  /** `route`: the turn uses that route instead of the session's model. `queued`: the number of waiting inputs it takes, oldest first. */
  TurnStarted: {
    readonly turn: TurnId;
    readonly input: readonly InputContent[];
    /** A notice for the model: that plan mode is on, that a new day has begun. */
    readonly notice?: string;
    readonly route?: string;
    readonly queued?: number;
    /** The prompt variant of the session. */
    readonly variant?: string;
    /** The session is in plan mode. */
    readonly plan?: true;
    /** The mode that a person has chosen for the session; absent if none was chosen. */
    readonly mode?: Exclude<SessionMode, "plan">;
    /** The folders that a person has added to the workspace of the session. */
    readonly folders?: readonly string[];
  };
  /** Input during a turn that waits: for the end of the turn, or for the next results. */
  InputQueued: {
    readonly input: readonly InputContent[];
    readonly delivery: InputDelivery;
    readonly from: ClientId;
    /** Of the sender. If it is absent, nothing says that a person sent it. */
    readonly identity?: Identity;
  };
  /** The oldest input that waited to steer is now in the conversation. */
  InputSteered: { readonly turn: TurnId; readonly input: readonly InputContent[]; readonly from: ClientId };
  /**
   * Waiting input was dropped: the turn was cancelled, or the sender withdrew it. During the turn that the input began: a hook refused it,
   * and the conversation holds `REFUSED_INPUT` in its place.
   */
  InputDropped: { readonly inputs: readonly (readonly InputContent[])[]; readonly by: string };
  /** A hook, a memory or another part of Oxbow added text to the conversation; `source` names it. */
  ContextAdded: { readonly turn: TurnId; readonly source: string; readonly text: string };
  TextDelta: { readonly text: string };
  /** `opaque` ends a thinking block that goes back to the provider verbatim. */
  ThinkingDelta: { readonly text: string; readonly provider?: string; readonly opaque?: JsonValue };
  ToolCallStarted: {
    readonly call: CallId;
    readonly tool: string;
    readonly tool_kind?: ToolKind;
    readonly args: JsonObject;
  };
  ToolCallProgress: { readonly call: CallId; readonly text: string };
  ToolResult: {
    readonly call: CallId;
    readonly tool: string;
    readonly status: ToolStatus;
    /** For the model. */
    readonly content: readonly ResultContent[];
    /** For the screen: a diff, counts, paths. */
    readonly details?: JsonObject;
    /** The rule, preset or mode that allowed it without a question; absent if the call has a PermissionResolved. */
    readonly decided_by?: string;
  };
  /** A hook changed a result before the model saw it: this content counts instead of that of the ToolResult. */
  ToolResultChanged: {
    readonly turn: TurnId;
    readonly call: CallId;
    readonly tool: string;
    readonly status: ToolStatus;
    readonly content: readonly ResultContent[];
    /** The hook. */
    readonly by: string;
  };
  /** Milliseconds by component: hooks, links, the provider, tools, the log. */
  TurnTiming: { readonly turn: TurnId; readonly parts: Readonly<Record<string, number>> };
  /** The end of an answer. Its CostIncremented follows at once; a refused call has none. */
  AnswerEnded: AnswerShape & {
    readonly turn: TurnId;
    readonly provider: string;
    readonly model: string;
    /** The route through which this model was chosen. */
    readonly route?: string;
    /** The provider's reason; absent if the answer was cut off. */
    readonly stop?: StopReason;
  };
  CostIncremented: {
    /** Absent between turns. */
    readonly turn?: TurnId;
    readonly provider: string;
    readonly model: string;
    readonly usage: Usage;
    readonly elapsed_ms: number;
    /** Absent when the price is not known. */
    readonly cost?: Cost;
    /** The route through which this model was chosen. */
    readonly route?: string;
    /** The attempt failed; another attempt continues the answer and reports its own cost. */
    readonly abandoned?: true;
    /** The purpose of a call that is not part of the conversation. */
    readonly purpose?: "summary" | "sampling" | "hook" | "search" | "aside";
  };
  /** The provider limits the rate or is overloaded. */
  RateLimited: NextAttempt;
  /** A connection broke, or a provider failed temporarily. */
  Retrying: NextAttempt;
  /** Withdraws the text of this answer so far: the next attempt starts again with different text. */
  AnswerRetracted: { readonly turn: TurnId; readonly reason: FailureReason };
  /** A model of a route could not answer; the next one is used. */
  FailedOver: {
    readonly turn: TurnId;
    readonly route: string;
    readonly from: ModelName;
    readonly to: ModelName;
    readonly reason: FailureReason;
    readonly message: string;
  };
  /** A rule of a route chose the model of the next calls. */
  ModelRouted: ModelName & { readonly turn: TurnId; readonly route: string; readonly rule: string };
  Error: Failure & { readonly turn?: TurnId };
  Cancelled: { readonly turn: TurnId; readonly by: string };
  TurnEnded: {
    readonly turn: TurnId;
    readonly outcome: TurnOutcome;
    /** The final answer, or the part that arrived. */
    readonly text: string;
    readonly iterations: number;
    readonly usage: Usage;
    /** Of all calls together; absent when one of them has no known price. */
    readonly cost?: Cost;
    /** The usage of each model, if there were several: after a failover, or for a summary. */
    readonly by_model?: readonly ModelShare[];
    /** The model stopped at its output limit: the text is incomplete. */
    readonly truncated?: true;
    /** The session is in plan mode. */
    readonly plan?: true;
    /** The mode that a person has chosen for the session; absent if none was chosen. */
    readonly mode?: Exclude<SessionMode, "plan">;
    readonly failure?: Failure;
  };
  PermissionRequested: {
    readonly call: CallId;
    readonly tool: string;
    readonly tool_kind?: ToolKind;
    readonly args: JsonObject;
    /** One line that describes the call. */
    readonly summary: string;
    /** The reason why it needs a permission. */
    readonly reason?: string;
    /** The calls that `allow_pattern` would allow for the session, one line each; absent if it cannot be remembered. */
    readonly offer?: readonly string[];
    /** The rules that "always" would write, one line each; absent if no rule can allow it. */
    readonly always?: readonly string[];
    /** Only this call can be allowed: `allow_pattern` and `allow_tool` count as `allow_once`. */
    readonly once_only?: true;
    /** A yes lets nothing out of the workspace and its sandbox, so a client whose token is limited may say it. */
    readonly contained?: true;
    /** The text that the call would write, for the user. Shortened; `args` has all of it. */
    readonly preview?: string;
    /** Values that the user is asked for. An answer that allows has them as one JSON object in its message. */
    readonly form?: readonly FormField[];
    /** Without an answer in this time the call is denied; absent if the question waits forever. */
    readonly timeout_ms?: number;
    /** The subagent that asks; the call belongs to its session. `summary` names it too. */
    readonly subagent?: SubagentName;
  };
  PermissionResolved: {
    readonly call: CallId;
    readonly tool: string;
    readonly decision: PermissionDecision;
    /** The rule, preset, person or mode that decided. */
    readonly decided_by: string;
    readonly message?: string;
    /** Of a command that a person typed: no other event has them. */
    readonly args?: JsonObject;
  };
  /**
   * With `summary`, the conversation continues from there: it replaces every event before `kept_from`, or before this one if
   * nothing is kept. `turn` is absent between turns.
   */
  CompactionTriggered: {
    readonly turn?: TurnId;
    readonly reason: string;
    readonly summary?: string;
    /** The first event of the first message that stays after the summary. */
    readonly kept_from?: number;
    /** Of the next request, before and after; estimated. */
    readonly tokens?: { readonly before: number; readonly after: number };
  };
  /**
   * A message for the user that is not a failure. `progress` replaces the status line of the current work (a model
   * loads), and an empty one ends that; `warning` stays.
   */
  Notice: {
    readonly turn?: TurnId;
    readonly level: "progress" | "warning";
    readonly message: string;
    /** The message offers something that the user may ignore. */
    readonly offer?: true;
    /** The message is about a program that asks for a token. Not in the log. */
    readonly token?: TokenQuestion;
    /** The message is about sessions that lose content soon. Not in the log. */
    readonly expiring?: readonly ExpiringSession[];
  };
  /** The conversation almost fills the context window: its tokens, and the size of the window. */
  ContextNearlyFull: { readonly turn: TurnId; readonly model: string; readonly used: number; readonly window: number };
  /** A call has started a subagent. Its own events are in its own session. */
  SubagentStarted: SubagentName & ModelName & { readonly description: string };
  /** One line about its work: the tool that it uses, or what it does. */
  SubagentProgress: SubagentName & { readonly text: string; readonly elapsed_ms: number; readonly tokens: number };
  /** Its cost is in its own session; the budgets of this one have counted it. */
  SubagentEnded: SubagentName & {
    readonly outcome: TurnOutcome;
    readonly elapsed_ms: number;
    readonly usage: Usage;
    /** Absent when the price of a model call is not known. */
    readonly cost?: Cost;
  };
  /** A person chose another mode. `copied`: in another session, which this one is a copy of. */
  ModeChanged: { readonly mode: SessionMode; readonly by: ClientId; readonly copied?: true };
  /**
   * Events `from` to `to` are missing: their content has expired (`ttl`), they were never stored (`not-stored`), or the engine stopped
   * before it saved them (`lost`): then the session goes on after this event's id. On a resumed connection its id is the last one before
   * the gap, and it is not in the log.
   */
  StreamGap: { readonly from: number; readonly to: number; readonly reason: string };
  /** The token of this connection expires soon. Not in the log. */
  TokenExpiring: { readonly jti: string; readonly expires_at: string };
  HookTimeout: { readonly event: string; readonly command: string; readonly timeout_ms: number };
  HookError: { readonly event: string; readonly command: string; readonly exit_code: number };
  MCPServerDown: { readonly name: string; readonly reason: string; readonly attempts: number };
  /** The session runs turns of another one again: a copy up to its event `after`. `from` is the number of the first of them. */
  RerunBegan: {
    readonly of: SessionId;
    readonly after: number;
    readonly from: number;
    /** No tool runs: each call gets the result that it had there. */
    readonly recorded?: true;
  };
  SkillRegistryChanged: { readonly added: readonly string[]; readonly removed: readonly string[] };
  SessionEnded: { readonly reason: SessionEndReason };
  /**
   * The first event of a run after one that did not end in order. `replaced` has the ids that clients may know from events that were never
   * stored, also those of earlier interruptions: a client that resumes after one of them may mean another event.
   */
  SessionContinued: { readonly replaced: readonly EventRange[] };
  CustomEvent: { readonly namespace: string; readonly kind: string; readonly payload: JsonValue };
}

/** Replaces content that has expired. */
export const EXPIRED = "«ttl-expired»";

export type EventKind = keyof EventPayloads;

/** An event before the bus gave it an id. */
export type EventBody = { [K in EventKind]: { readonly kind: K; readonly payload: EventPayloads[K] } }[EventKind];
