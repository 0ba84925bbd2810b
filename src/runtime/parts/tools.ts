/** The part with the tools: toolbox, permissions, sandbox, guard and undo. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Subscriber } from "../../chain/build.js";
import type { PlanSwitch, RunOptions } from "../../control/run.js";
import type { Bus } from "../../engine/bus.js";
import type { Model, ToolRegistry } from "../../engine/ports.js";
import { HookVariables } from "../../extensions/hooks/hook-variables.js";
import type { Identity } from "../../protocol/client.js";
import type { Message } from "../../protocol/content.js";
import type { SessionId } from "../../protocol/ids.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import { UndoRecorder } from "../../sessions/undo/recorder.js";
import { CATALOG } from "../../tools/catalog.js";
import { firstCall } from "../../tools/first-call.js";
import type { OutputPlace } from "../../tools/output-file.js";
import type { SessionParts } from "../open-engine.js";
import type { SessionPart } from "../part.js";
import type { SessionStores } from "../sessions/session-stores.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { ParentRun } from "../subagents.js";
import type { SessionFolders } from "./folders.js";
import { RunGuard } from "./guard.js";
import { type EarlierPermissions, RunPermissions } from "./permissions.js";
import { RunSandbox, type RunSandboxOptions } from "./sandbox.js";
import { openToolbox } from "./toolbox.js";

type ToolsParts = Pick<
  SessionParts,
  "umask" | "loaded" | "variables" | "root" | "sessions" | "notify" | "clock" | "plugins"
>;

interface ToolsPlace {
  readonly session: SessionId;
  readonly bus: Bus;
  readonly turnsBefore: number | undefined;
  readonly originator: () => Identity;
  readonly before: RunPermissions | undefined;
  /** The state of `before` that the session goes back to. */
  readonly back: EarlierPermissions | undefined;
  readonly folders: SessionFolders;
  /** A resumed session that was in plan mode stays in it. */
  readonly isPlanning: boolean;
  readonly mode: PermissionMode | undefined;
  readonly parent?: ParentRun | undefined;
  /** Undefined before the run is open. */
  readonly model: () => Model | undefined;
  readonly tools: () => ToolRegistry | undefined;
  /** Asks the person outside of a call; undefined where no one can answer. */
  readonly askPerson?: RunSandboxOptions["askPerson"] | undefined;
}

/** The tools of a session with what guards, contains, undoes and records their calls. */
export function toolsPart(parts: ToolsParts, place: ToolsPlace) {
  const { loaded, variables, root, sessions, notify } = parts;
  const { session, turnsBefore, parent, folders } = place;
  const outputs = outputFolders(loaded, session, parent);
  const shared = parent?.undo;
  const undo = shared ?? new UndoRecorder({ root, turnsBefore, open: () => openJournal(sessions, session) });
  const hidden = sessions.ownFolders;
  const outputDirectory = outputs.own;
  const guard = new RunGuard({ root, extraRoots: folders.roots, variables, ownFolders: hidden, outputDirectory });
  const sandbox = new RunSandbox({
    ...{ loaded, variables, root, session, outputDirectory, hidden, notify },
    ...(parent && { space: () => parent.sandbox.space() }),
    ...(place.askPerson && { askPerson: place.askPerson }),
    restrictions: () => permissions.restrictions(),
    isRecorded: async () => (await sessions.open()) !== undefined,
    mode: () => permissions.mode,
    isPlanning: () => permissions.planning,
    reason: (path) => guard.reason(path),
    openHeldChanges: async () => {
      const [{ HeldChanges }, { ignoreSource }] = await Promise.all([
        import("../../security/change-gate/held-changes.js"),
        import("../../tools/search/ignore-source.js"),
      ]);
      return HeldChanges.open({
        ...{ root, variables, notify, undo, ownFolders: hidden },
        folder: join(loaded.roots.state, "sandbox"),
        ignore: async () => ignoreSource(await sessions.keptFolders()),
        reasons: () => guard.reasons(),
        pathPermissions: async () => (await permissions.parts()).paths.load(),
      });
    },
  });
  const hookVariables = parent?.hookVariables ?? new HookVariables();
  const toolbox = sessionToolbox(parts, { bus: place.bus, outputs, undo, folders, guard, sandbox, hookVariables });
  const permissions: RunPermissions = sessionPermissions(parts, { ...place, guard, sandbox, toolbox, outputDirectory });
  /** Folders that the model does not know yet. */
  let isNews: string[] = [];
  const stopFolders = folders.onAdded(async (folder) => {
    guard.forget();
    sandbox.forget();
    (await toolbox.workspace()).addRoot(folder);
    isNews.push(folder);
  });
  const first = firstCall(parts.clock, firstSteps(loaded, { permissions, toolbox, sandbox, model: place.model }));
  const part: SessionPart = {
    name: "tools",
    subscribers: [first.subscriber, missingTools(parts, place), turnBegins(sandbox)],
    services: {
      gate: permissions,
      // The changes belong to the parent's turn, so the turns of a subagent do not count.
      undo: {
        begin: (call) => undo.begin(call),
        holdsBack: async ({ args }, { kind, extension }) =>
          (kind === "run" || extension !== undefined) && !args.outside_sandbox && (await sandbox.holdsBack()),
        isWhole: async ({ args }, { kind, extension }, openings) =>
          kind === "run" &&
          extension === undefined &&
          !args.outside_sandbox &&
          !args.run_in_background &&
          !openings.some((each) => SEEN_OUTSIDE.has(each)) &&
          (await sandbox.holdsAll().catch(() => false)),
        ...(shared === undefined && { onEvent: (event) => undo.onEvent(event) }),
      },
      outputs: { save: (text) => saveResult(text, { directory: outputDirectory, onFile: outputs.trim }) },
    },
    promptSection: () => extraRootsText(folders.roots),
    inputNotice: () => {
      const news = isNews;
      isNews = [];
      return news.length === 0 ? undefined : `The user added folders to the workspace. ${extraRootsText(news)}`;
    },
    statusRows: async () => (folders.roots.length === 0 ? [] : [["folders", folders.roots.join(", ")]]),
    compactions: [{ after: async ({ messages }) => (await toolbox.workspace()).keepSeen(filesShownIn(messages)) }],
    close: async () => {
      stopFolders();
      await first.close();
      await toolbox.close();
      await sandbox.close();
      if (shared === undefined) undo.close();
      await keepOutputs(outputs.all, session, sessions);
    },
  };
  return { part, toolbox, permissions, sandbox, undo, hookVariables, outputDirectory };
}

/** Undefined for a session that is not stored: it cannot be undone. */
async function openJournal(sessions: SessionStores, session: SessionId) {
  if ((await sessions.open()) === undefined) return undefined;
  const { finishUndo } = await import("../../sessions/undo/apply.js");
  const journal = await sessions.undoJournal(session);
  // The next undo says why it cannot be completed.
  await finishUndo(journal).catch(() => {});
  return journal;
}

/** With these, a command can do what no one can take back. */
const SEEN_OUTSIDE: ReadonlySet<string> = new Set(["network", "unix_sockets"]);

/** Between turns, others work in the workspace, too. */
function turnBegins(sandbox: RunSandbox): Subscriber {
  return {
    name: "15-workspace",
    run: ({ kind }) => {
      if (kind !== "TurnStarted") return;
      sandbox.mayHaveChanged();
      void sandbox.forgetEnds();
    },
  };
}

/** The tools whose call or result has the text of a file. */
const WHOLE_FILES: readonly string[] = [CATALOG.read.name, CATALOG.write.name];

/** The files whose text the messages have. */
function filesShownIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== "assistant") return [];
    return content.flatMap((block) => {
      const shows = block.type === "tool_use" && WHOLE_FILES.includes(block.tool);
      return shows && typeof block.args.path === "string" ? [block.args.path] : [];
    });
  });
}

/** The folders with the long outputs of all sessions and of this one. */
function outputFolders({ settings, roots }: LoadedSettings, session: SessionId, parent: ParentRun | undefined) {
  const all = join(roots.state, "output");
  return {
    all,
    own: parent?.outputDirectory ?? join(all, session),
    trim: () => trimLater(all, settings.output_bytes.value),
  };
}

function sessionToolbox(
  { loaded, variables, root, umask }: ToolsParts,
  made: {
    readonly outputs: ReturnType<typeof outputFolders>;
    readonly undo: UndoRecorder;
    readonly bus: Bus;
    readonly folders: SessionFolders;
    readonly guard: RunGuard;
    readonly sandbox: RunSandbox;
    readonly hookVariables: HookVariables;
  },
) {
  const { settings } = loaded;
  const { bus, outputs, undo, folders, guard, sandbox, hookVariables } = made;
  return openToolbox({
    root,
    offers: (tool, set) => settings.tool_sets.value.offers(tool, set),
    variables,
    environmentPolicy: settings.environment.value,
    umask,
    outputDirectory: outputs.own,
    temporary: () => sandbox.temporaryFolder(),
    ports: async () => (await (await sandbox.ports()).listening()).map(({ port }) => port),
    commandTimeoutMs: settings.run_timeout.value ?? "off",
    reachesOutputs: true,
    onOutputFile: outputs.trim,
    onBackground: (running) =>
      bus.publish("CustomEvent", { namespace: "background", kind: "running", payload: { running } }),
    webHosts: settings.web_hosts.value,
    webNames: settings.web_names.value,
    observer: undo,
    extraRoots: folders.roots,
    writableFolders: folders.writable,
    guard,
    wrapCommand: (command, options) => sandbox.wrap(command, options),
    addedEnvironment: async ({ outside, unasked }) => {
      if (hookVariables.isEmpty) return {};
      const isContained = !outside && (await sandbox.find()).kind !== "none";
      return hookVariables.of(isContained || !(outside || unasked) ? "all" : "user");
    },
  });
}

function sessionPermissions(
  { loaded, variables, root, sessions, plugins }: ToolsParts,
  made: ToolsPlace & {
    readonly guard: RunGuard;
    readonly sandbox: RunSandbox;
    readonly toolbox: ReturnType<typeof openToolbox>;
    readonly outputDirectory: string;
  },
): RunPermissions {
  const { guard, sandbox, toolbox, outputDirectory, originator, before, back, bus, isPlanning, mode, parent } = made;
  return new RunPermissions({
    ...{ loaded, variables, root, guard, outputDirectory, originator, before, back, isPlanning, plugins },
    ownFolders: sessions.ownFolders,
    workspace: toolbox.workspace,
    isSandboxed: async () => (await sandbox.find()).kind !== "none",
    whyNotContained: () => sandbox.whyNotContained(),
    nextEvent: () => bus.nextId,
    resumedMode: mode,
    outer: parent?.permissions,
    ...(parent && { onlyReads: parent.onlyReads }),
  });
}

/** Loads what the first call of a session needs, while the model answers. */
function firstSteps(
  loaded: LoadedSettings,
  made: {
    readonly permissions: RunPermissions;
    readonly toolbox: ReturnType<typeof openToolbox>;
    readonly sandbox: RunSandbox;
    readonly model: () => Model | undefined;
  },
) {
  const { permissions, toolbox, sandbox, model } = made;
  const runsCommands = loaded.settings.tool_sets.value.offers(CATALOG.bash.name, CATALOG.bash.set);
  return [
    () => permissions.parts(),
    // The answer is priced before its calls run.
    () => readPrices(loaded, model()),
    ...(runsCommands ? [() => toolbox.prepare(CATALOG.bash.name), makeOutputPipe, () => sandbox.prepare()] : []),
  ];
}

/** Says once which tools of the chosen sets do not exist here. By the end of the first turn all extensions are loaded. */
function missingTools({ loaded, notify }: ToolsParts, { parent, tools }: ToolsPlace): Subscriber {
  const { value, origin } = loaded.settings.tool_sets;
  let isDue = parent === undefined && value.named !== undefined;
  return {
    name: "61-missing-tools",
    run: ({ kind }) => {
      if (!isDue || kind !== "TurnEnded") return;
      isDue = false;
      const missing = value.missing((tool) => tools()?.find(tool) !== undefined);
      if (missing.length > 0) notify(`${origin}: nothing here offers ${missing.join(", ")}.`);
    },
  };
}

async function saveResult(text: string, place: OutputPlace): Promise<(line: number) => string> {
  const { OutputFile } = await import("../../tools/output-file.js");
  const file = new OutputFile(place);
  file.append(Buffer.from(text));
  file.close();
  return (line) => file.describe(line);
}

function extraRootsText(folders: readonly string[]): string | undefined {
  if (folders.length === 0) return undefined;
  return `Besides the workspace you may use these folders, by absolute path: ${folders.join(", ")}`;
}

export function planSwitch(permissions: RunPermissions): PlanSwitch {
  return {
    isOn: () => permissions.planning,
    mode: () => permissions.mode,
    chosenMode: () => permissions.chosenMode,
    enter: async () => (await permissions.parts()).engine.plan.enter(),
    exit: async ({ approve, client, turn }) => {
      const { plan } = (await permissions.parts()).engine;
      const questioned = { originator: turn.id, originatorIdentity: turn.identity };
      const left = plan.exit({ approve, client, turn: questioned });
      return left.ok ? undefined : left.reason;
    },
  };
}

/** Any client may switch to `plan`, which only restricts. Only a person may choose another mode. */
export function modeSwitch(permissions: RunPermissions): NonNullable<RunOptions["setMode"]> {
  return async (mode, client, turn) => {
    const { plan } = (await permissions.parts()).engine;
    if (mode === "plan") {
      plan.enter();
      return undefined;
    }
    if (client.identity !== "human") return "Only a person may choose the mode.";
    if (plan.on) {
      const questioned = { originator: turn.id, originatorIdentity: turn.identity };
      const left = plan.exit({ approve: true, client, turn: questioned });
      if (!left.ok) return left.reason;
    }
    permissions.setMode(mode);
    return undefined;
  };
}

async function readPrices(loaded: LoadedSettings, model: Model | undefined): Promise<void> {
  const { openCatalogue } = await import("../../providers/catalogue/open-catalogue.js");
  if (model !== undefined) await openCatalogue(loaded).facts(model);
}

const makeOutputPipe = async () => (await import("../../system/fifo.js")).prepareFifo();

/** Runs in the background. If it fails, the next output tries again. */
function trimLater(outputs: string, limit: number): void {
  void import("../../sessions/outputs.js").then(({ trimOutputs }) => trimOutputs(outputs, limit)).catch(() => {});
}

/** A session that is not stored leaves no outputs either. */
async function keepOutputs(outputs: string, session: SessionId, sessions: SessionStores): Promise<void> {
  // Most sessions have none, and every exit waits for this.
  if (!existsSync(join(outputs, session))) return;
  const { removeIfEmpty, removeOutputs } = await import("../../sessions/outputs.js");
  const isStored = (await sessions.choice()).kind !== "none";
  await (isStored ? removeIfEmpty(join(outputs, session)) : removeOutputs(outputs, session));
}
