/** Describes what a run is made of, and what it takes. */
import type { Bus } from "../engine/bus.js";
import type { TurnResult } from "../engine/loop.js";
import type { EnginePorts, Model, PreparedCall } from "../engine/ports.js";
import type { StageChains } from "../engine/turn.js";
import type { InputContent, Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { Failure } from "../protocol/errors.js";
import type { EventRange, InputDelivery, SessionMode } from "../protocol/events.js";
import type { SessionId } from "../protocol/ids.js";
import type { Originator } from "./attached-client.js";
import type { LeftInput } from "./inbox.js";
import type { PermissionPrompts } from "./permission-prompts.js";

export interface RunOptions {
  readonly session: SessionId;
  readonly bus: Bus;
  readonly ports: EnginePorts;
  readonly stages: StageChains;
  readonly model: Model;
  readonly permissionPrompts: PermissionPrompts;
  /** The earlier conversation of a resumed session. */
  readonly conversation?: readonly Message[];
  /** Inputs that waited when an earlier run stopped. */
  readonly waiting?: readonly LeftInput[];
  /** Ids under which clients may have seen other events (replaced-ids.ts). */
  readonly replaced?: readonly EventRange[];
  /** Events from before a client attached: a gap in the log, the end of an interrupted turn. */
  readonly opening?: readonly Envelope[];
  /** Finds the route that an input names. */
  readonly route?: (content: readonly InputContent[]) => RoutedInput;
  /** An earlier run ended with a plan that no person has decided about. */
  readonly hasPlan?: boolean;
  /** Plan mode, if the run supports it. */
  readonly plan?: PlanSwitch;
  /** Changes the mode; returns the reason if it may not. */
  readonly setMode?: (mode: SessionMode, client: Originator, turn: Originator) => Promise<string | undefined>;
  /** Tells what the model gets with the input of the next turn. */
  readonly inputNotice?: (input: readonly InputContent[]) => string | undefined | Promise<string | undefined>;
  /** The folders that a person has added to the workspace. */
  readonly folders?: () => readonly string[];
  /** The time limit of a turn; reaching it is a limit, not a failure. */
  readonly turnTimeoutMs?: number;
  /** Resolves when all events so far are saved, or with the reason why they cannot be. */
  readonly saved?: () => Promise<Failure | undefined>;
  /** The last event that a killed engine would leave in the log; without it, the session is not stored. */
  readonly savedTo?: () => number;
  /** Frees what the run holds: background commands, watchers. */
  readonly dispose?: () => Promise<void> | void;
}

export interface PlanSwitch {
  isOn(): boolean;
  /** The mode without the plan. */
  mode(): SessionMode;
  /** The same, if a person has chosen it. */
  chosenMode(): Exclude<SessionMode, "plan"> | undefined;
  enter(): Promise<void>;
  /** Tells why plan mode stays on; undefined if it ended, or if the plan goes back to the model. */
  exit(request: {
    readonly approve: boolean;
    readonly client: Originator;
    readonly turn: Originator;
  }): Promise<string | undefined>;
}

/** Begins the work on an approved plan. */
export interface PlanWork {
  readonly content: readonly InputContent[];
  /** For the model. */
  readonly notice: string;
}

/** Explains why plan mode stays on, or the work that can begin now. */
export type PlanLeft = { readonly refused: string } | { readonly work?: PlanWork };

export interface TurnInput {
  readonly content: readonly InputContent[];
  readonly originator: Originator;
  /** Says how to deliver it during a turn; without it, it is refused. */
  readonly delivery?: InputDelivery;
  /** Holds what the model gets with it besides the run's own notices. */
  readonly notice?: string;
  /** Oxbow makes these calls first, before the model answers. */
  readonly calls?: readonly PreparedCall[];
  /** The model of this turn alone. */
  readonly model?: Model;
  /** The file of the slash command that the turn is for. */
  readonly commandFile?: string;
}

/** The route that an input names, and the rest of the input. */
export interface RoutedInput {
  readonly content: readonly InputContent[];
  readonly route?: string;
}

export interface Started {
  /** Resolves when the turn has published its first event. */
  readonly begun: Promise<void>;
  readonly ended: Promise<TurnResult>;
}
