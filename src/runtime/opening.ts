/** The inputs for opening a session, and the results of its built-in parts so far. */

import type { ExtensionFiles } from "../base/extension-files.js";
import type { OutsideResults } from "../chain/outside-results.js";
import type { GatheredContext } from "../context/pinned/gathered-context.js";
import type { PinnedContext } from "../context/pinned/pinned-context.js";
import type { RunRequest } from "../control/host.js";
import type { PermissionPrompts } from "../control/permission-prompts.js";
import type { Run } from "../control/run.js";
import type { Effort } from "../engine/ports.js";
import type { HookVariables } from "../extensions/hooks/hook-variables.js";
import type { SessionEvents } from "../extensions/hooks/part.js";
import type { Audit } from "../security/audit/part.js";
import type { UndoRecorder } from "../sessions/undo/recorder.js";
import type { SessionParts } from "./open-engine.js";
import type { PartContext, SessionPart } from "./part.js";
import type { RunCompaction } from "./parts/compaction.js";
import type { RunCosts } from "./parts/costs.js";
import type { SessionFolders } from "./parts/folders.js";
import type { OpenedJournal } from "./parts/journal.js";
import type { EarlierPermissions, RunPermissions } from "./parts/permissions.js";
import type { RunRecording } from "./parts/recording.js";
import type { RunSandbox } from "./parts/sandbox.js";
import type { Toolbox } from "./parts/toolbox.js";
import type { ResumedSession } from "./sessions/resumed-session.js";
import type { ParentRun } from "./subagents.js";

/** Describes how much the model thinks; undefined: the model's own default. */
export interface RunEffort {
  level: Effort | undefined;
}

/** Describes what the built-in parts make for each other and for the run. */
export interface BuiltParts {
  readonly effort: RunEffort;
  readonly journal: OpenedJournal;
  readonly costs: RunCosts;
  readonly outside: OutsideResults;
  readonly pinned: PinnedContext;
  readonly gathered: GatheredContext;
  readonly compaction: RunCompaction;
  readonly recording: RunRecording;
  readonly toolbox: Toolbox;
  readonly permissions: RunPermissions;
  readonly sandbox: RunSandbox;
  readonly audit: Audit;
  readonly undo: UndoRecorder;
  readonly folders: SessionFolders;
  readonly hookVariables: HookVariables;
  /** The folder of its long outputs. */
  readonly outputDirectory: string;
  readonly events: SessionEvents;
}

export interface OpenedRun extends BuiltParts {
  readonly run: Run;
  readonly parts: readonly SessionPart[];
  readonly extensions: ExtensionFiles;
}

/** The inputs of the built-in parts. */
export interface Opening extends PartContext {
  readonly engine: SessionParts;
  readonly request: RunRequest;
  /** Asks the user. */
  readonly person: PermissionPrompts;
  readonly resumed: ResumedSession | undefined;
  /** The run whose settings this one keeps. */
  readonly before: OpenedRun | undefined;
  /** The earlier permissions of `before` that this one goes back to. */
  readonly back: EarlierPermissions | undefined;
  /** The run that this one follows; it may have another profile. */
  readonly previous: OpenedRun | undefined;
  /** The session that started it, if it is a subagent. */
  readonly parent: ParentRun | undefined;
  readonly folders: SessionFolders;
  /** The parts and the run, as soon as there are some. */
  readonly current: { parts?: readonly SessionPart[]; run?: Run };
  readonly built: Built;
}

/** Throws if a part is used before it is made: the order of the parts is then wrong. */
export class Built {
  readonly #made: Partial<BuiltParts> = {};

  add(made: Partial<BuiltParts>): void {
    Object.assign(this.#made, made);
  }

  get<K extends keyof BuiltParts>(name: K): BuiltParts[K] {
    const made = this.#made[name];
    if (made === undefined) throw new Error(`the part with ${name} comes later`);
    return made;
  }

  /** Undefined before it is made. */
  find<K extends keyof BuiltParts>(name: K): BuiltParts[K] | undefined {
    return this.#made[name];
  }

  all(): BuiltParts {
    return this.#made as BuiltParts;
  }
}

/** The run of a part's commands: they are made after it. */
export function runOf({ current }: Pick<Opening, "current">): Run {
  if (current.run === undefined) throw new Error("the run has not begun");
  return current.run;
}
