/** The queries of a client. A query returns data, changes nothing and causes no event. */
import type { Identity } from "./client.js";
import type { Envelope } from "./envelope.js";
import type { EventPayloads, SessionEndReason, SessionMode, ToolStatus, TurnOutcome } from "./events.js";
import type { HealthInfo } from "./health-info.js";
import type { CallId, ClientId, SessionId, TokenId, TurnId } from "./ids.js";
import type { JsonObject } from "./json.js";
import type { Usage } from "./usage.js";

export type { CacheInfo, HealthInfo } from "./health-info.js";

export interface SessionInfo {
  readonly id: SessionId;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly title?: string;
  readonly created_at: string;
  readonly active_at: string;
  /** 0 when there is no event yet. */
  readonly last_event: number;
  readonly pinned: boolean;
  readonly ended?: SessionEndReason;
  /** It began as a copy of this one. */
  readonly branch_of?: SessionId;
  /** The log has a turn without an end: it runs, or a kill ended it. */
  readonly unfinished?: true;
  /** This engine has it open. */
  readonly live: boolean;
  /** A turn runs. */
  readonly busy?: true;
  /** The number of questions that wait for a person; absent if none does. */
  readonly questions?: number;
}

export interface ModelInfo {
  readonly provider: string;
  readonly model: string;
  /** A name for people, where it differs. */
  readonly label?: string;
  readonly context_window?: number;
  /** US dollars per million tokens; absent when unknown, which does not mean free. */
  readonly price?: { readonly input: number; readonly output: number };
  /** Says what it can do; absent when that is not known. */
  readonly tools?: boolean;
  readonly images?: boolean;
  readonly thinking?: boolean;
}

export interface CommandInfo {
  /** `cost`, or `NAMESPACE:ACTION`. */
  readonly name: string;
  /** Other full names; that of a namespace alone makes this its default action. */
  readonly aliases: readonly string[];
  readonly usage: string;
  readonly summary: string;
  readonly arguments: readonly ArgumentInfo[];
  /** No agent may use it. */
  readonly for_people: boolean;
  /** The engine refuses it: the client does it itself. */
  readonly by_client: boolean;
  /** It works while a turn runs. */
  readonly during_turn: boolean;
}

export interface ArgumentInfo {
  readonly name: string;
  readonly optional?: true;
  /** It takes all words that are left. */
  readonly rest?: true;
  /** The values it takes. */
  readonly choices?: readonly string[];
  /** The source of its values: `model`, `session`, `file` … */
  readonly source?: string;
}

export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: JsonObject;
  readonly mutating: boolean;
}

export interface RuleInfo {
  readonly number: number;
  readonly rule: string;
  /** The file it is from; absent for a rule of this session. */
  readonly file?: string;
}

export interface PermissionInfo {
  readonly mode: string;
  readonly rules: readonly RuleInfo[];
  /** Given for this session only. */
  readonly session_rules: readonly RuleInfo[];
}

export interface StatusInfo {
  readonly session: SessionId;
  readonly provider: string;
  readonly model: string;
  /** A turn runs, or other work on the conversation. */
  readonly busy: boolean;
  /** Inputs that wait for a turn. */
  readonly waiting: number;
  readonly messages: number;
  /** The id of the last event; 0 if there is none. */
  readonly last_event: number;
  /** Absent for a session without a name. */
  readonly title?: string;
  /** Its time, for `after_ts` of AttachSession; absent if it is not known. */
  readonly last_event_ts?: string;
  /** The originator of the running turn, or of the last one. */
  readonly originator: { readonly id: ClientId; readonly identity: Identity };
  readonly place?: PlaceStatus;
  /** The last turn answered with a plan, and no person has decided about it: ExitPlanMode approves it. */
  readonly plan_waits?: true;
}

/** Describes where and how the session works; absent if the engine does not know. */
export interface PlaceStatus {
  readonly cwd: string;
  /** The name of the profile in use. */
  readonly profile?: string;
  /** The addresses at which other programs reach the engine over HTTP: `http://127.0.0.1:8421`. */
  readonly addresses?: readonly string[];
  readonly mode: SessionMode;
  /** Says how much the model thinks; absent when the model decides. */
  readonly effort?: string;
  /** The branch that git has checked out. */
  readonly branch?: string;
  /** The sandbox of commands: `bubblewrap`, `none` …; absent until it is known. */
  readonly sandbox?: string;
  /** Tokens that the model can read. */
  readonly context_window?: number;
  /** US dollars per million tokens of the model; absent when unknown. */
  readonly price?: { readonly input: number; readonly output: number };
  /** Says whether the model takes images; absent when that is not known. */
  readonly images?: boolean;
  /** The number of background commands that run; absent for none. */
  readonly background?: number;
  /** Further folders of its workspace. */
  readonly folders?: readonly string[];
  /** Instruction files in use. */
  readonly instructions: readonly string[];
}

/** A file of the folder, or an entry of one, that is not used before the user approves it. */
export interface WaitingContent {
  readonly id: string;
  /** Of the version that is described here: a decision is for this version only. */
  readonly sha256: string;
  /** `AGENTS.md`, or `.mcp.json: mcp_servers.NAME`; safe to show. */
  readonly name: string;
  /** Names what it is: `instruction file`, `skill` … */
  readonly label: string;
  /** Says whether it runs programs, changes settings, or is read by the model. */
  readonly effect: "runs" | "configures" | "informs";
  readonly owner: "user" | "project";
  readonly state: "new" | "changed" | "refused";
  /** A program of the project: ApproveContent decides with `run_programs` how long such programs may run. */
  readonly off?: true;
  readonly size: string;
  readonly notes: readonly string[];
  /** A unified diff, safe to show. Absent when it was not asked for or the content cannot be shown. */
  readonly diff?: string;
  /** All of it, safe to show; only with a diff that leaves lines out. */
  readonly text?: string;
}

export interface ContentDecision {
  readonly id: string;
  readonly sha256: string;
  readonly decision: "approved" | "refused";
}

/** Extensions of the session of one kind: skills, hooks, MCP servers … */
export interface ExtensionSection {
  readonly title: string;
  readonly items: readonly { readonly name: string; readonly state: string }[];
}

/** A client that is connected to the engine. */
export interface ClientInfo {
  readonly id: ClientId;
  readonly identity: Identity;
  /** The name by which it calls itself. */
  readonly name?: string;
  /** `inproc`, `http`, `ws` … */
  readonly transport: string;
  /** The sessions that it is attached to. */
  readonly sessions: readonly SessionId[];
  /** The time when it connected. */
  readonly attached_at: string;
  /** The token that it came with; absent for the owner's own clients, and for a client that sees less than the owner. */
  readonly token?: TokenId;
}

export interface ProfileInfo {
  readonly name: string;
  /** `built-in`, `user` or `project`. */
  readonly scope: string;
  readonly description?: string;
  readonly in_use: boolean;
  /** The reason why it cannot be used. */
  readonly problem?: string;
}

export interface ProviderInfo {
  readonly name: string;
  readonly configured: boolean;
  readonly ready: boolean;
  /** One line about its state. */
  readonly detail: string;
  readonly models: readonly ModelInfo[];
}

export interface SkillInfo {
  readonly name: string;
  readonly description: string;
  /** `built-in`, `user`, `project` … */
  readonly scope: string;
}

export interface McpServerInfo {
  readonly name: string;
  /** `ready`, `starting`, `down`, `off` … */
  readonly state: string;
  readonly tools: number;
  /** Within the last minute. */
  readonly restarts?: number;
  readonly detail?: string;
}

/** One turn of a session. Input and text are cut if they are long. */
export interface TurnInfo {
  /** From 1, in the order they happened. */
  readonly number: number;
  readonly turn: TurnId;
  /** The TurnStarted; `end_event`, the TurnEnded, is absent while the turn has no end. */
  readonly start_event: number;
  readonly end_event?: number;
  readonly started_at: string;
  readonly elapsed_ms?: number;
  readonly outcome?: TurnOutcome;
  /** `PROVIDER:MODEL` of its last answer. */
  readonly model?: string;
  readonly input: string;
  readonly text: string;
  readonly calls: number;
  readonly usage: Usage;
  /** US dollars of the calls with a known price; absent if none has one. */
  readonly usd?: number;
}

export interface CallInfo {
  readonly call: CallId;
  readonly tool: string;
  /** Its arguments on one line, cut if they are long. */
  readonly args: string;
  /** Absent while it has no result. */
  readonly status?: ToolStatus;
}

/** A path that the tools of a session changed between two moments. */
export interface FileChange {
  /** Relative to the workspace; absolute for another folder. */
  readonly path: string;
  readonly change: "new" | "changed" | "deleted" | "chmod";
  readonly kind: "file" | "folder" | "link" | "other";
  /** Lines; absent for what is no text, and where a content is missing. */
  readonly added?: number;
  readonly removed?: number;
  /** A unified diff; long ones are cut. */
  readonly diff?: string;
  /** The reason why there is no diff. */
  readonly missing?: string;
}

/** A turn of a compared session, with what makes it differ from others. */
export interface ComparedTurn extends TurnInfo {
  readonly made: readonly CallInfo[];
  readonly files: readonly Pick<FileChange, "path" | "change" | "added" | "removed">[];
}

export interface ComparedTotals {
  readonly turns: number;
  readonly calls: number;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly usage: Usage;
  readonly elapsed_ms: number;
  /** Absent if no call has a known price. */
  readonly usd?: number;
}

export interface Comparison {
  readonly sessions: readonly {
    readonly id: SessionId;
    readonly title?: string;
    readonly model: string;
    /** The session that it began as a copy of, and the last event of that one in it. */
    readonly branch_of?: { readonly session: SessionId; readonly event: number };
    /** Of the turns that differ. */
    readonly totals: ComparedTotals;
  }[];
  /** The number of turns at the beginning that are the same in all of them. */
  readonly same_turns: number;
  /** The turns after those, by number; a side without that turn has null. */
  readonly turns: readonly {
    readonly number: number;
    readonly same: boolean;
    readonly sides: readonly (ComparedTurn | null)[];
  }[];
}

export const COST_WAYS = ["model", "provider", "day", "project", "session"] as const;

export interface CostLine {
  readonly name: string;
  readonly calls: number;
  readonly usage: Usage;
  readonly elapsed_ms: number;
  /** null if no call has a known price. */
  readonly usd: number | null;
  /** The number of calls without a known price. */
  readonly unpriced: number;
}

/** A message between Oxbow and an MCP server. */
export interface McpMessage {
  readonly at: string;
  readonly from: "client" | "server";
  /** Of a request or a notification. */
  readonly method?: string;
  /** Joins a request with its answer. */
  readonly id?: string;
  /** The answer is an error. */
  readonly failed?: true;
  readonly bytes: number;
  /** The message as JSON, redacted and cut if it is long. */
  readonly text: string;
}

/** A setting as `config.toml` spells it. */
export interface SettingInfo {
  readonly name: string;
  readonly about: string;
  /** The value for sessions that open from now on. */
  readonly value: string;
  /** `--model`, `OXBOW_MODEL`, the path of a file with the key, or `default`. */
  readonly origin: string;
  readonly source: "default" | "user" | "project" | "environment" | "flag";
  /** The value of this session, where that differs. */
  readonly in_use?: string;
  /** Says how it is changed; `file`: only there. */
  readonly kind: "choice" | "switch" | "number" | "list" | "text" | "file";
  readonly choices?: readonly string[];
  /** Says what it holds for: `client` is the terminal. */
  readonly holds: "session" | "client" | "engine";
  /** The slash command that changes it in a running session. */
  readonly command?: string;
  /** The guide that explains it, in `docs`. */
  readonly guide: string;
}

export interface Queries {
  /** With a session: only that one. `empty`: also open sessions that are not stored yet, because nothing has happened in them. */
  ListSessions: {
    /** `empty` adds sessions without an event, `subagents` those of subagents that work now. */
    readonly request: {
      readonly cwd?: string;
      readonly limit?: number;
      readonly empty?: true;
      readonly subagents?: true;
    };
    readonly answer: { readonly sessions: readonly SessionInfo[] };
  };
  ListModels: {
    readonly request: Record<never, never>;
    readonly answer: {
      readonly models: readonly ModelInfo[];
      /** Providers that did not answer, one line each. */
      readonly problems: readonly string[];
      /** Names that `@NAME` and `/model` take besides. */
      readonly routes?: readonly {
        readonly name: string;
        readonly models: readonly string[];
        readonly enabled: boolean;
      }[];
    };
  };
  /** With a session: also what its plugins add. */
  ListCommands: {
    readonly request: Record<never, never>;
    readonly answer: { readonly commands: readonly CommandInfo[] };
  };
  /** With a session: only those attached to it. */
  ListClients: { readonly request: Record<never, never>; readonly answer: { readonly clients: readonly ClientInfo[] } };
  /** The next six are about the place of the session, or about the default place without one. */
  ListProfiles: {
    readonly request: Record<never, never>;
    readonly answer: { readonly profiles: readonly ProfileInfo[] };
  };
  ListProviders: {
    readonly request: Record<never, never>;
    readonly answer: { readonly providers: readonly ProviderInfo[] };
  };
  ListSkills: { readonly request: Record<never, never>; readonly answer: { readonly skills: readonly SkillInfo[] } };
  /** With the text that a model gets when it uses the skill. */
  GetSkill: { readonly request: { readonly name: string }; readonly answer: SkillInfo & { readonly body: string } };
  /** `/config set NAME VALUE` and `/config reset NAME` change one. Nothing for a client whose token is limited. */
  ListSettings: {
    readonly request: Record<never, never>;
    readonly answer: { readonly settings: readonly SettingInfo[] };
  };
  ListMcpServers: {
    readonly request: Record<never, never>;
    readonly answer: { readonly servers: readonly McpServerInfo[] };
  };
  GetHealth: { readonly request: Record<never, never>; readonly answer: HealthInfo };
  /** The queries from here on are about one session. */
  ListTools: { readonly request: Record<never, never>; readonly answer: { readonly tools: readonly ToolInfo[] } };
  GetPermissions: { readonly request: Record<never, never>; readonly answer: PermissionInfo };
  /** Questions that wait for an AnswerPermission, oldest first. */
  ListQuestions: {
    readonly request: Record<never, never>;
    readonly answer: { readonly questions: readonly EventPayloads["PermissionRequested"][] };
  };
  GetStatus: { readonly request: Record<never, never>; readonly answer: StatusInfo };
  /** Files of the session's folder by a part of their path, the best first; without ignored ones. A folder ends in a slash. */
  FindFiles: {
    readonly request: { readonly query: string; readonly limit?: number };
    readonly answer: { readonly paths: readonly string[] };
  };
  /** Stored events of a session, open or not, in order: the last ones before an event, at most `limit` (default 2000), and fewer where their texts are long: the first of them is then behind `before - limit`. None where sessions are not stored. */
  ListEvents: {
    readonly request: { readonly before: number; readonly limit?: number };
    readonly answer: { readonly events: readonly Envelope[] };
  };
  /** The turns of a session, open or not, in order. */
  ListTurns: { readonly request: Record<never, never>; readonly answer: { readonly turns: readonly TurnInfo[] } };
  /** Lists what the tools of a session changed in its folder behind the event `since` (default: from its beginning), up to the event `until` (default: its end). */
  GetChanges: {
    readonly request: { readonly since?: number; readonly until?: number };
    readonly answer: {
      readonly files: readonly FileChange[];
      /** Notes on changes that are not covered, as sentences. */
      readonly notes: readonly string[];
    };
  };
  /** The session beside others, turn by turn. */
  CompareSessions: { readonly request: { readonly others: readonly SessionId[] }; readonly answer: Comparison };
  /** Adds up what was spent: with a session by that one, otherwise by all that the client may see. Days are those of the engine's time zone. */
  GetCosts: {
    readonly request: { readonly by?: (typeof COST_WAYS)[number]; readonly since?: string };
    readonly answer: { readonly total: CostLine; readonly lines: readonly CostLine[] };
  };
  /** The messages of the last minutes between Oxbow and the MCP servers of an open session, oldest first. */
  ListMcpTraffic: {
    readonly request: { readonly server: string };
    readonly answer: { readonly messages: readonly McpMessage[] };
  };
  /** Lists the extensions of the session, by kind; kinds without content are left out. */
  ListExtensions: {
    readonly request: Record<never, never>;
    readonly answer: { readonly sections: readonly ExtensionSection[] };
  };
  /** Content of the session's folder that waits for ApproveContent. */
  ListWaitingContent: {
    readonly request: { readonly diffs?: true };
    readonly answer: { readonly items: readonly WaitingContent[] };
  };
}

export type QueryKind = keyof Queries;
