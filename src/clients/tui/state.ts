/**
 * The state of the terminal client. Only `reduceEvent` and `reduceKey` change it. They are pure; they return outside actions (print,
 * send, ring) as effects.
 */
import { estimateFrom, type TurnStats } from "../../base/turn-stats.js";
import type { CommandKind, CommandPayloads } from "../../protocol/commands.js";
import type { EventPayloads, TurnOutcome } from "../../protocol/events.js";
import type { ClientId, SessionId, TurnId } from "../../protocol/ids.js";
import type { PlaceStatus } from "../../protocol/queries.js";
import { type CostState, NO_COSTS } from "../sdk/shown/costs.js";
import type { AgentFacts, ToolBlock } from "../sdk/shown/tool-block.js";
import type { Block } from "./content/block.js";
import type { Todo } from "./content/todo.js";
import type { TokenRequest } from "./dialogs/token-request.js";

export interface RunningTurn {
  /** Absent between sending and the engine's TurnStarted. */
  readonly id?: TurnId;
  readonly startedAt: number;
  /** The user's text, to restore it if the turn is interrupted before an answer. */
  readonly text: string;
  /** Whether the model has sent text or a call. */
  readonly answered: boolean;
  /** The current activity, if it is neither thinking nor a call: a retry, loading a model. */
  readonly progress?: string;
  /** When the next attempt begins; `progress` names the wait. */
  readonly retryAt?: number;
  readonly cancelling: boolean;
}

export interface QueuedInput {
  readonly text: string;
  readonly images: number;
  readonly audio?: number;
  readonly delivery: "queue" | "steer";
  readonly own: boolean;
}

export type Question = EventPayloads["PermissionRequested"];

/** A subagent of this conversation, also when its call has ended. */
export interface AgentWork extends AgentFacts {
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly outcome?: TurnOutcome;
  /** Its activity now, in one line. */
  readonly last?: string;
}

/** A short sentence below the input that disappears after a while. */
export interface Hint {
  readonly text: string;
  readonly until: number;
}

export interface State {
  readonly client: ClientId;
  readonly session: SessionId;
  /** `provider:model` */
  readonly model: string;
  readonly title?: string;
  readonly place?: PlaceStatus;
  /** Shift-Tab came to `review` from `auto`, and nothing was sent since. */
  readonly passesReview?: boolean;
  readonly turn?: RunningTurn;
  /** Text of the answer is being printed. */
  readonly answering: boolean;
  readonly thinking?: { readonly text: string; readonly startedAt: number };
  /** Calls that are not printed yet, in the model's order. */
  readonly tools: readonly ToolBlock[];
  /** In the order in which they began. */
  readonly agents: readonly AgentWork[];
  readonly queue: readonly QueuedInput[];
  readonly questions: readonly Question[];
  /** Programs that ask for a token. */
  readonly tokens: readonly TokenRequest[];
  /** The model's list, while something of it is open. */
  readonly todos?: readonly Todo[];
  readonly todosHidden?: boolean;
  /** The turn that ended with a plan, until someone decides about it. */
  readonly plan?: TurnId;
  readonly costs: CostState;
  /** No amount of money is kept or shown. */
  readonly hidesCost: boolean;
  readonly recent: readonly TurnStats[];
  readonly hint?: Hint;
  /** Ctrl-C again before this time leaves the client. */
  readonly leaveUntil?: number;
  /** Esc again before this time clears the draft, or goes back to an earlier prompt if it is empty. */
  readonly escapeUntil?: number;
  /** The running `!command` of the user. */
  readonly shell?: {
    readonly command: string;
    readonly unshared?: boolean;
    readonly output: string;
    readonly startedAt: number;
  };
  /** A slash command that runs. */
  readonly command?: { readonly line: string; readonly startedAt: number; readonly progress?: string };
  /** Outputs of `!command`, which go to the model with the next prompt. */
  readonly context: readonly string[];
}

export type Effect =
  /** Prints into the scrollback, once. */
  | { readonly do: "print"; readonly block: Block }
  | { readonly do: "answer"; readonly text: string }
  | { readonly do: "end answer" }
  | { readonly do: "drop answer" }
  | {
      readonly [K in CommandKind]: { readonly do: "send"; readonly kind: K; readonly payload: CommandPayloads[K] };
    }[CommandKind]
  | { readonly do: "command"; readonly line: string; readonly verb: string; readonly args: string }
  | { readonly do: "shell"; readonly command: string; readonly share: boolean }
  /** Puts text back into the editor, before the draft. */
  | { readonly do: "restore"; readonly text: string }
  | { readonly do: "clear draft" }
  /** Moves everything above the live part into the scrollback, and writes the live part again. */
  | { readonly do: "clear screen" }
  /** The user may not be looking at the terminal. */
  | { readonly do: "call person"; readonly text: string }
  /** Ask the engine for the status again. */
  | { readonly do: "refresh" }
  | { readonly do: "open"; readonly dialog: DialogName }
  /** A notice about another client, if it is still there: `<client>` stands for its name. */
  | { readonly do: "tell who"; readonly client: ClientId; readonly text: string }
  | { readonly do: "suspend" }
  | { readonly do: "exit" };

export type DialogName =
  | "help"
  | "models"
  | "sessions"
  | "transcript"
  | "settings"
  | "themes"
  | "review"
  | "sidebar"
  | "last session"
  | "rewind"
  | "approvals"
  | "work";

export interface Reduced {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export interface StartOptions {
  readonly client: ClientId;
  readonly session: SessionId;
  readonly model: string;
  readonly title?: string;
  readonly recent?: readonly TurnStats[];
  readonly hidesCost?: boolean;
}

export function firstState({ client, session, model, title, recent = [], hidesCost = false }: StartOptions): State {
  return {
    client,
    session,
    model,
    ...(title !== undefined && { title }),
    answering: false,
    tools: [],
    agents: [],
    queue: [],
    questions: [],
    tokens: [],
    context: [],
    costs: NO_COSTS,
    hidesCost,
    recent,
  };
}

/** The state for another session of the same client. */
export function stateOfOther({ client, place, tokens, hidesCost }: State, other: Omit<StartOptions, "client">): State {
  return { ...firstState({ hidesCost, ...other, client }), ...(place && { place }), tokens };
}

export function isBusy({ turn, shell, command }: State): boolean {
  return turn !== undefined || shell !== undefined || command !== undefined;
}

export function estimateMs({ recent }: State): number | undefined {
  return estimateFrom(recent);
}

/** A copy without some optional fields. */
export function without<
  K extends
    | "turn"
    | "plan"
    | "todos"
    | "thinking"
    | "hint"
    | "leaveUntil"
    | "escapeUntil"
    | "shell"
    | "command"
    | "passesReview",
>(state: State, ...names: readonly K[]): State {
  const copy = { ...state };
  for (const name of names) delete copy[name];
  return copy;
}
