/** Joins subagents with sessions: a subagent is a session that works for a call of another one, and may do no more than that one. */
import type { ExtensionFiles } from "../base/extension-files.js";
import type { Variables } from "../base/variables.js";
import type { SubagentSession } from "../control/hosted-sessions.js";
import { PermissionPrompts, type PromptAnswer } from "../control/permission-prompts.js";
import type { Bus } from "../engine/bus.js";
import type { Effort } from "../engine/ports.js";
import type { HookVariables } from "../extensions/hooks/hook-variables.js";
import { mayUse } from "../extensions/subagents/agent-types.js";
import type { AgentModels, RunningSubagent, SubagentsContext, SubagentWork } from "../extensions/subagents/context.js";
import type { TurnCount } from "../extensions/subagents/limits.js";
import { text } from "../protocol/content.js";
import type { EventPayloads, SubagentName } from "../protocol/events.js";
import type { SessionId, TurnId } from "../protocol/ids.js";
import type { NewSession } from "../sessions/store.js";
import type { UndoRecorder } from "../sessions/undo/recorder.js";
import type { QuietGit } from "../system/git/run-git.js";
import { featureContext } from "./feature-context.js";
import type { Place, SessionParts } from "./open-engine.js";
import { type OpenedRun, type Opening, runOf } from "./opening.js";
import type { RunCosts } from "./parts/costs.js";
import type { SessionFolders } from "./parts/folders.js";
import { toolsMeant } from "./parts/own-tools.js";
import type { RunPermissions } from "./parts/permissions.js";
import type { RunSandbox } from "./parts/sandbox.js";

/** Describes what a subagent's session gets from its parent session. */
export interface ParentRun {
  /** The subagent as its parent's events name it. */
  readonly name: Omit<SubagentName, "session">;
  readonly link: NonNullable<NewSession["parent"]>;
  readonly turn: TurnId;
  /** 1 for a subagent of a session that is not a subagent. */
  readonly depth: number;
  /** Its permissions are the limit of the subagent's, at any time. */
  readonly permissions: RunPermissions;
  /** Its budgets pay for the subagent. */
  readonly costs: RunCosts;
  /** Called with each cost of the subagent and of those below it. */
  readonly paid: (cost: EventPayloads["CostIncremented"]) => void;
  /** Records the changes with those of the parent's turn; absent for a subagent with its own workspace. */
  readonly undo?: UndoRecorder | undefined;
  /** Its long outputs go there too: either may name the files of the other. */
  readonly outputDirectory: string;
  readonly folders: SessionFolders;
  /** Its commands and those of the subagent share `/tmp` and localhost. */
  readonly sandbox: Pick<RunSandbox, "space">;
  /** Holds what hooks of the parent's start added for commands. */
  readonly hookVariables: HookVariables;
  /** The approved files that the parent uses. */
  readonly extensions: ExtensionFiles;
  /** The parent's questions: its clients answer those of the subagent. */
  readonly prompts: PermissionPrompts;
  readonly mayUse: (tool: string) => boolean;
  /** Types that it may start itself; undefined for all. */
  readonly agents?: readonly string[] | undefined;
  /** Its system prompt; undefined: the default one. */
  readonly prompt?: string | undefined;
  /** The file that defines its type; undefined for a built-in one. */
  readonly agentFile?: string | undefined;
  readonly effort?: Effort | undefined;
  readonly maxIterations?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly onlyReads: boolean;
  readonly count: TurnCount;
  /** It works for a hook, which must not start another one like it. */
  readonly isOfHook?: true;
}

export function subagentsContext(opening: Opening): SubagentsContext {
  const { engine, session, built, parent, bus } = opening;
  return {
    ...featureContext(opening),
    parent,
    models: agentModels(engine),
    running: () => engine.subagents?.of(session) ?? [],
    open: async (work, folder) => {
      const content = engine.content?.fork();
      const place = { ...engine, content, model: work.model, root: folder ?? engine.root };
      const below = parentOf(opening, work, folder === undefined ? "the workspace" : "its own folder");
      const { openRun } = await import("./open-run.js");
      const request = { originator: bus.originator, personPresent: () => below.prompts.present() };
      const opened = await openRun(place, request, { parent: below });
      if ("failure" in opened) return { problem: opened.failure.message };
      const { run } = opened;
      return {
        run,
        start: async () => {
          const started = run.start({ content: [text(work.prompt)], originator: runOf(opening).originator });
          return "ended" in started ? started.ended : undefined;
        },
        show: (subagent) => {
          const running = { ...subagent, session: run.session, parent: session };
          return engine.subagents?.add(running, { ...opened, place }) ?? (() => {});
        },
      };
    },
    hooks: () => built.get("events"),
    git: () => quietGit(engine.variables),
  };
}

export function agentModels({ routes, registry, loaded, model }: SessionParts): AgentModels {
  return {
    first: model,
    routes,
    look: (spec) => registry.look(spec),
    ids: async (provider) =>
      (await import("../providers/catalogue/open-catalogue.js")).openCatalogue(loaded).ids(provider),
  };
}

export async function quietGit(variables: Variables): Promise<QuietGit> {
  const [{ QUIET_GIT_ENVIRONMENT }, { isQuietRepository }, { childEnvironment }] = await Promise.all([
    import("../security/shell/programs/quiet-git.js"),
    import("../security/shell/quiet-repository.js"),
    import("../tools/child-environment.js"),
  ]);
  const environment = { ...childEnvironment(variables), ...QUIET_GIT_ENVIRONMENT };
  return { environment, isQuiet: (root) => isQuietRepository(root, { environment }) };
}

function parentOf(opening: Opening, work: SubagentWork, changes: "the workspace" | "its own folder"): ParentRun {
  const { session, built, parent, engine, extensions } = opening;
  const { type, turn, call, count } = work;
  return {
    name: { call, type: type.name },
    link: { session, turn: turn.id, call },
    turn: turn.id,
    depth: (parent?.depth ?? 0) + 1,
    permissions: built.get("permissions"),
    costs: built.get("costs"),
    paid: ({ usage, cost, provider, model }) => turn.pay(usage, cost, { provider, model }),
    undo: changes === "the workspace" ? built.get("undo") : undefined,
    hookVariables: built.get("hookVariables"),
    outputDirectory: built.get("outputDirectory"),
    sandbox: built.get("sandbox"),
    folders: opening.folders,
    extensions,
    prompts: runOf(opening).permissionPrompts,
    mayUse: (tool) => mayUse(type, tool, toolsMeant) && (parent?.mayUse(tool) ?? true),
    agents: type.agents,
    prompt: type.prompt === "" ? undefined : type.prompt,
    agentFile: type.path,
    effort: type.effort,
    maxIterations: type.maxIterations,
    timeoutMs: engine.loaded.settings.agent_timeout.value,
    onlyReads: type.onlyReads === true || parent?.onlyReads === true,
    count,
    ...(work.isOfHook && { isOfHook: true as const }),
  };
}

/** Lets clients follow a subagent. Returns what to call when its run has been closed. */
type Follow = (opened: OpenedRun & { readonly place: Place }, about: SubagentSession) => () => void;

/** Keeps the subagents that work now, so that clients can follow their sessions. */
export class RunningSubagents {
  readonly #follow: Follow;
  readonly #running = new Set<RunningSubagent>();

  constructor(follow: Follow) {
    this.#follow = follow;
  }

  /** Returns what to call when its run has been closed. */
  add(subagent: RunningSubagent, opened: Parameters<Follow>[0]): () => void {
    const { parent, type, description } = subagent;
    this.#running.add(subagent);
    const unfollow = this.#follow(opened, { parent, title: `subagent ${type}: ${description}` });
    return () => {
      this.#running.delete(subagent);
      unfollow();
    };
  }

  /** Lists those of a session and all below them, the oldest first. */
  of(session: SessionId): readonly RunningSubagent[] {
    return [...this.#running]
      .filter(({ parent }) => parent === session)
      .flatMap((subagent) => [subagent, ...this.of(subagent.session)]);
  }
}

/**
 * Asks the questions of a subagent.
 *
 * 1. They are in its own log, and go to the clients of the session that started it, which see who asks.
 * 2. The first answer counts in both.
 * 3. The clients get one such question at a time: a line client can show only one.
 */
export class SubagentPrompts extends PermissionPrompts {
  readonly #name: SubagentName;
  readonly #outer: PermissionPrompts;

  constructor(bus: Bus, { name, outer }: { readonly name: SubagentName; readonly outer: PermissionPrompts }) {
    super(bus, () => outer.present());
    this.#name = name;
    this.#outer = outer;
  }

  override get isTimed(): boolean {
    return this.#outer.isTimed;
  }

  override async ask(asked: EventPayloads["PermissionRequested"], signal: AbortSignal): Promise<PromptAnswer> {
    const { call } = asked;
    const own = super.ask(asked, signal);
    // With a limit, each question gets its whole time.
    const before = (this.isTimed && lastAsked.get(this.#outer)) || Promise.resolve();
    lastAsked.set(
      this.#outer,
      before.then(() => this.#askAbove(asked, signal)),
    );
    const answer = await own;
    this.#outer.answer(call, answer);
    return answer;
  }

  async #askAbove(asked: EventPayloads["PermissionRequested"], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const summary = `subagent ${this.#name.type}: ${asked.summary}`;
    this.answer(asked.call, await this.#outer.ask({ ...asked, summary, subagent: this.#name }, signal));
  }
}

/** The last question of a subagent that each session's clients got. */
const lastAsked = new WeakMap<PermissionPrompts, Promise<void>>();
