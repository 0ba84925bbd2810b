/** The commands of a client. The union is closed; plugins use `CustomCommand`. */
import type { InputContent } from "./content.js";
import type { PermissionDecision, SessionMode } from "./events.js";
import type { CallId, SessionId } from "./ids.js";
import type { JsonValue } from "./json.js";
import type { ContentDecision } from "./queries.js";

export type OrphanVerdict = "failed" | "succeeded" | "abort";

/** A program that speaks MCP on standard input and output, or an address. */
export interface McpServerEntry {
  readonly name: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly type?: "http" | "sse";
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The surroundings of a terminal, for a session in an engine that runs elsewhere. */
export interface SessionStart {
  /** The environment of the client without its secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The permissions that new files of the client do not get. */
  readonly umask?: number;
  /** The flags of the command line that hold for the session. */
  readonly flags?: readonly string[];
  /** Keys of the client's environment, by the names under which the credential helper keeps them. */
  readonly keys?: readonly SessionKey[];
  /** The names of the variables that the client left out. */
  readonly withheld?: readonly string[];
  /** With `resume`: the client began the session, and the engine may have ended before its first turn was stored. Then it opens empty, with its id. */
  readonly anew?: boolean;
}

export interface SessionKey {
  readonly provider: string;
  readonly account: string;
  readonly base_url: string;
}

export interface CommandPayloads {
  SendInput: { readonly content: readonly InputContent[]; readonly queue?: boolean; readonly steer?: boolean };
  /** Drops the waiting input of this client; an InputDropped follows. */
  TakeBackInput: Record<never, never>;
  CancelTurn: Record<never, never>;
  AnswerPermission: { readonly call: CallId; readonly decision: PermissionDecision; readonly message?: string };
  CreateSession: {
    /** The folder to work in; default: the folder that the engine was started in. */
    readonly cwd?: string;
    /** The name of a profile, or its file, relative to the working directory. Only for people. With the session in `resume` it opens anew. */
    readonly profile?: string;
    /** `NAME`, `PROVIDER` or `PROVIDER:NAME`. */
    readonly model?: string;
    readonly resume?: SessionId;
    /** The new session starts empty with the settings of this one (model, effort, plan mode, rules, budget, recording), which ends if no other client is in it. */
    readonly after?: SessionId;
    /**
     * With `after`: the session rules, the mode and plan mode are those from before this event, the TurnStarted of an earlier prompt of that session. With `resume`, for a
     * branch that ends there. Only for people.
     */
    readonly until?: number;
    /** A summary of another session, with which the conversation of the new one begins. */
    readonly carry?: string;
    /** MCP servers for this session besides the configured ones, as an editor hands them in. Only for people. They are not stored. */
    readonly mcp_servers?: readonly McpServerEntry[];
    /** The surroundings of the terminal that opens the session. Only the owner may send it, over the socket of this machine. */
    readonly start?: SessionStart;
    /** The outcome of calls without a recorded result. Needed when there are such calls; refused with OrphanedCalls without it. */
    readonly orphans?: { readonly verdict: OrphanVerdict; readonly note?: string };
  };
  /**
   * With `after`, the stored events after that one come first, then the live ones. Without it, the questions that are open. A stored session
   * that is not open is opened. `after_ts` is the time of that event: after a crash, another event may have its id, and then a StreamGap
   * comes first. Without it, a StreamGap comes whenever that is possible.
   */
  AttachSession: { readonly after?: number; readonly after_ts?: string };
  DetachSession: Record<never, never>;
  /** Ends the run: the turn is cancelled, a SessionEnded follows, and the log stays. */
  EndSession: Record<never, never>;
  SetModel: { readonly model: string };
  /** Only for people, except `plan`. Leaving `plan` this way approves the plan. */
  SetMode: { readonly mode: SessionMode };
  EnterPlanMode: Record<never, never>;
  /**
   * Only for people. An approval leaves plan mode, for `mode` if it is given. If the last turn answered with a plan, a turn that carries it out
   * begins, and the value has `state`. Without approval plan mode stays.
   */
  ExitPlanMode: { readonly approve: boolean; readonly mode?: Exclude<SessionMode, "plan"> };
  /** Only for people. Approved content is in use from the next turn on. The value names what was approved, refused, and void because it changed. */
  ApproveContent: {
    readonly decisions: readonly ContentDecision[];
    /** Approved programs of this project run from now on, in every session. Without it, those of `decisions` run until Oxbow ends. */
    readonly run_programs?: true;
  };
  CustomCommand: { readonly namespace: string; readonly verb: string; readonly payload: JsonValue };
}

export type CommandKind = keyof CommandPayloads;

export type Command = {
  [K in CommandKind]: { readonly kind: K; readonly session: SessionId; readonly payload: CommandPayloads[K] };
}[CommandKind];

export const COMMAND_KINDS: readonly CommandKind[] = [
  "SendInput",
  "TakeBackInput",
  "CancelTurn",
  "AnswerPermission",
  "CreateSession",
  "AttachSession",
  "DetachSession",
  "EndSession",
  "SetModel",
  "SetMode",
  "EnterPlanMode",
  "ExitPlanMode",
  "ApproveContent",
  "CustomCommand",
];
