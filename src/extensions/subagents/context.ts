/** Describes what subagents need from the session and from other features. */
import type { Bus } from "../../engine/bus.js";
import type { Model } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import type { FeatureContext } from "../../feature/part.js";
import type { Failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { CallId, SessionId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import type { QuietGit } from "../../system/git/run-git.js";
import type { AgentType } from "./agent-types.js";
import type { TurnCount } from "./limits.js";
import type { AgentSettings } from "./settings.js";

export interface SubagentsContext extends FeatureContext<AgentSettings> {
  /** The session that started this one, if it is a subagent itself. */
  readonly parent: Parent | undefined;
  readonly models: AgentModels;
  /** The subagents of this session and of those below it that work now. */
  running(): readonly RunningSubagent[];
  /** Opens a session for the work, in this folder of its own or in the workspace. */
  open(work: SubagentWork, folder: string | undefined): Promise<OpenedSubagent | { readonly problem: string }>;
  hooks(): WorktreeHooks;
  git(): Promise<QuietGit>;
}

interface Parent {
  /** 1 for a subagent of a session that is not a subagent. */
  readonly depth: number;
  /** Types that it may start; undefined for all. */
  readonly agents?: readonly string[] | undefined;
  readonly count: TurnCount;
  readonly isOfHook?: true;
}

/** The models and routes of the place. */
export interface AgentModels {
  /** The model that the session began with. */
  readonly first: Model;
  readonly routes: {
    mayHaveAny(): boolean;
    /** Undefined if the name is none of a route. */
    resolve(name: string): Promise<FoundModel | undefined>;
    open(name: string): Promise<FoundModel>;
  };
  look(spec: string): Promise<FoundModel>;
  ids(provider: string): Promise<readonly string[]>;
}

type FoundModel = { readonly model: Model } | { readonly failure: Failure };

export interface SubagentWork {
  readonly type: AgentType;
  readonly model: Model;
  readonly prompt: string;
  readonly description: string;
  readonly call: CallId;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  readonly count: TurnCount;
  readonly notes: readonly string[];
  /** It works for a hook. */
  readonly isOfHook?: true;
}

export interface OpenedSubagent {
  readonly run: {
    readonly session: SessionId;
    readonly bus: Bus;
    cancel(by: string, cause?: Failure): unknown;
    close(reason: "user"): Promise<unknown>;
  };
  /** Begins the turn; undefined if it cannot begin. */
  start(): Promise<EventPayloads["TurnEnded"] | undefined>;
  /** Lets clients follow it. Returns what to call when its run has been closed. */
  show(subagent: Omit<RunningSubagent, "session" | "parent">): () => void;
}

export interface RunningSubagent {
  readonly session: SessionId;
  readonly parent: SessionId;
  readonly type: string;
  readonly description: string;
  /** By the clock of the engine. */
  readonly since: number;
  /** Tells what it does now, in one line. */
  readonly does: () => string;
  readonly tokens: () => number;
}

/** Hooks around a workspace of a subagent. */
export interface WorktreeHooks {
  has(event: WorktreeEvent): boolean;
  fire(
    event: WorktreeEvent,
    occasion: { readonly input: JsonObject; readonly signal?: AbortSignal },
  ): Promise<WorktreeAnswer>;
}

type WorktreeEvent = "WorktreeCreate" | "WorktreeRemove";

export interface WorktreeAnswer {
  readonly refuses?: true;
  readonly reason?: string;
  readonly stop?: string;
  /** The folder that the hook made; `isOfProject`: the project can change the hook. */
  readonly folder?: { readonly path: string; readonly isOfProject?: true };
}
