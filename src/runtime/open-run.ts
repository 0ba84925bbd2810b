/** One run with everything that belongs to it: its bus, tools, journal, undo and recording, joined by the chain. */
import { join } from "node:path";
import type { Variables } from "../base/variables.js";
import { buildChains } from "../chain/build.js";
import { OutsideResults } from "../chain/outside-results.js";
import type { ChainServices } from "../chain/services.js";
import { systemPrompt } from "../context/instructions/system-prompt.js";
import type { RunRequest } from "../control/host.js";
import { PermissionPrompts } from "../control/permission-prompts.js";
import { type PlanSwitch, Run } from "../control/run.js";
import { Bus } from "../engine/bus.js";
import type { Effort, EnginePorts } from "../engine/ports.js";
import type { Identity } from "../protocol/client.js";
import type { Envelope } from "../protocol/envelope.js";
import type { Failure } from "../protocol/errors.js";
import type { SessionId } from "../protocol/ids.js";
import { timedOut } from "../security/permissions/identity.js";
import { PLAN_MODE_INSTRUCTION } from "../security/permissions/plan-mode-instruction.js";
import { STANDING_INSTRUCTION } from "../security/untrusted/standing-instruction.js";
import { modelFits } from "./models/model-fit.js";
import type { EngineParts } from "./open-engine.js";
import { RunCompaction } from "./parts/compaction.js";
import { RunCosts } from "./parts/costs.js";
import { RunGuard } from "./parts/guard.js";
import { openJournal } from "./parts/journal.js";
import { RunPermissions } from "./parts/permissions.js";
import { RunRecording } from "./parts/recording.js";
import { RunSandbox } from "./parts/sandbox.js";
import { RunSecurity } from "./parts/security.js";
import { openToolbox } from "./parts/toolbox.js";
import { RunUndo } from "./parts/undo.js";
import { pastEvents, type ResumedSession, resumeSession, takeUp } from "./sessions/resumed-session.js";
import { sessionMark } from "./sessions/session-mark.js";
import type { LoadedSettings } from "./settings/settings.js";

export interface OpenedRun {
  readonly run: Run;
  readonly costs: RunCosts;
  readonly compaction: RunCompaction;
  readonly recording: RunRecording;
  readonly security: RunSecurity;
  readonly effort: RunEffort;
  readonly permissions: RunPermissions;
}

/** How much the model shall think; undefined is as it likes. */
export interface RunEffort {
  level: Effort | undefined;
}

/** `before`: the run whose settings it keeps; what a person set there holds for the new conversation too. */
export async function openRun(
  engine: EngineParts,
  request: RunRequest,
  before?: OpenedRun,
): Promise<OpenedRun | { readonly failure: Failure }> {
  const parts = before === undefined ? engine : { ...engine, model: before.run.model };
  const resumed = request.resume && (await resumeSession(parts.sessions, request.resume));
  if (resumed !== undefined && "failure" in resumed) return resumed;
  try {
    return await openSessionRun(parts, request, { resumed, before });
  } catch (error) {
    await resumed?.lease.release();
    throw error;
  }
}

async function openSessionRun(
  parts: EngineParts,
  request: RunRequest,
  { resumed, before }: { readonly resumed: ResumedSession | undefined; readonly before: OpenedRun | undefined },
): Promise<OpenedRun> {
  const session: SessionId = resumed?.record.id ?? parts.ids.next("sess");
  const { log, clock, root, sessions } = parts;
  const { settings } = parts.loaded;
  const bus = new Bus({
    session,
    originator: request.originator,
    clock,
    firstId: (resumed?.record.last_event ?? 0) + 1,
    onSubscriberError: (error) => log("error", "engine", "a subscriber failed", { error: String(error), session }),
  });
  const opening: Envelope[] = [];
  const stopOpening = bus.subscribe((event) => opening.push(event));
  let run: Run | undefined;
  const tools = openRunTools(parts, {
    session,
    bus,
    turnsBefore: resumed === undefined ? 0 : resumed.turns,
    originator: () => run?.originator.identity ?? "human",
    history: resumed && (() => pastEvents(sessions, resumed.record)),
    before: before?.permissions,
  });
  const { undo, toolbox, permissions } = tools;
  const journal = await openJournal({
    session,
    resumed,
    root,
    model: parts.model,
    sessions,
    clock,
    ids: parts.ids,
    onFailure: (cause) => {
      log("error", "sessions", "the session cannot be saved", { session, error: cause.message });
      if (run?.busy) run.fail("session store", cause);
      else parts.notify(cause.message);
    },
  });
  const costs = new RunCosts({
    ...parts,
    ...parts.loaded,
    session,
    isResumed: resumed !== undefined,
    journal,
    before: before?.costs,
  });
  const outside = new OutsideResults(() => sessionMark(session, sessions), {
    results: settings.untrusted_results.value,
  });
  const compaction = new RunCompaction({
    outside,
    share: settings.compact_at.value,
    limitsOf: (model) => costs.limitsOf(model),
    summaryModel: () => parts.routes.summary(),
    conversation: () => run?.conversation ?? [],
    journal,
    onShortened: () => parts.content?.forget(),
  });
  const timeout = settings.permission_timeout.value;
  const limit = timeout === undefined ? undefined : { clock, ms: timeout, answer: timedOut(timeout) };
  const permissionPrompts = new PermissionPrompts(bus, request.personPresent, limit);
  const day = () => new Date(clock.wall()).toISOString().slice(0, 10);
  const begun = resumed?.record.created_at.slice(0, 10) ?? day();
  const prompts = {
    full: promptOf(parts, { date: begun, size: "full" }),
    small: promptOf(parts, { date: begun, size: "small" }),
  };
  const effort: RunEffort = { level: before === undefined ? settings.effort.value : before.effort.level };
  const services: ChainServices = {
    session,
    tools: toolbox,
    gate: permissions,
    person: permissionPrompts,
    log,
    journal,
    undo,
    leftovers: tools.sandbox,
    content: parts.content,
    costs,
    compaction,
    outside,
    audit: tools.security,
    shells: {
      onEvent: ({ kind }) => {
        if (kind === "TurnEnded") void toolbox.rest();
      },
    },
    openRoute: (name) => parts.routes.open(name),
    retry: { clock, random: Math.random, totalWaitMs: settings.retry_wait_ms.value },
    systemPrompt: (size) => prompts[size],
    fit: modelFits({ variables: parts.variables, roots: parts.loaded.roots, hint: parts.hint }),
    effort: () => effort.level,
    ...(settings.max_output_tokens.value !== undefined && { maxOutputTokens: settings.max_output_tokens.value }),
  };
  const chains = buildChains(services);
  for (const subscriber of chains.subscribers) bus.subscribe((event) => subscriber.run(event));
  const ports: EnginePorts = {
    clock,
    ids: parts.ids,
    tools: toolbox,
    requestLinks: chains.requestLinks,
    toolLinks: chains.toolLinks,
    mayStartEarly: (call, tool) => permissions.mayStartEarly(call, tool),
    toolExecution: "batched",
    maxIterations: settings.max_iterations.value,
    maxAnswerCharacters: settings.max_answer_chars.value,
    countCutOff: async (answer) => (await import("../chain/count-cut-off.js")).countCutOff(answer, costs),
  };
  log("info", "engine", resumed ? "session resumed" : "session opened", { session, model: parts.model.model });
  const opened = new Run({
    session,
    bus,
    ports,
    permissionPrompts,
    stages: chains.stages,
    model: parts.model,
    route: parts.routes.route,
    plan: planSwitch(permissions),
    inputNotice: inputNotices({
      day,
      // The input of the last turn brought the date of its day.
      told: resumed?.lastTurnAt?.slice(0, 10) ?? begun,
      isPlanning: () => permissions.planning,
    }),
    ...(resumed && { conversation: await takeUp(resumed, { bus, ports }), waiting: resumed.rebuilt.waiting }),
    opening,
    ...(settings.timeout_ms.value !== undefined && { turnTimeoutMs: settings.timeout_ms.value }),
    saved: () => journal.saved(),
    dispose: async () => {
      await tools.close();
      await recording.stop();
      await journal.close();
    },
  });
  run = opened;
  stopOpening();
  const left = resumed?.rebuilt.waiting.length ?? 0;
  if (left > 0)
    parts.hint(
      `${left} input${left === 1 ? "" : "s"} that waited when the session was stopped will go along with your next one.`,
    );
  const model = () => `${opened.model.provider}:${opened.model.model}`;
  const recording = new RunRecording({ bus, workspace: root, model, wall: clock.wall, notify: parts.notify });
  if (before !== undefined) await recording.takeOver(before.recording);
  return { run: opened, recording, costs, compaction, effort, permissions, security: tools.security };
}

/** The tools of the run, and what stands around them. */
function openRunTools(
  parts: EngineParts,
  place: {
    readonly session: SessionId;
    readonly bus: Bus;
    readonly turnsBefore: number | undefined;
    readonly originator: () => Identity;
    readonly history: (() => AsyncIterable<Envelope>) | undefined;
    readonly before: RunPermissions | undefined;
  },
) {
  const { loaded, variables, root, sessions, notify } = parts;
  const { session, bus, turnsBefore } = place;
  const { settings, roots, profilePath } = loaded;
  const outputs = join(roots.state, "output");
  const outputDirectory = join(outputs, session);
  const trim = () => trimLater(outputs, settings.output_bytes.value);
  const undo = new RunUndo({ session, root, sessions, turnsBefore });
  const hidden = sessions.ownFolders;
  const guard = new RunGuard({ root, variables, ownFolders: hidden, outputDirectory });
  const restrictions = () => permissions.restrictions();
  const isRecorded = async () => (await sessions.open()) !== undefined;
  const sandbox = new RunSandbox({
    loaded,
    variables,
    root,
    session,
    outputDirectory,
    hidden,
    notify,
    restrictions,
    isRecorded,
  });
  const toolbox = openToolbox({
    root,
    sets: settings.tool_sets.value,
    variables,
    outputDirectory,
    commandTimeoutMs: settings.run_timeout_ms.value ?? "off",
    reachesOutputs: true,
    onOutputFile: trim,
    webHosts: settings.web_hosts.value,
    webNames: settings.web_names.value,
    observer: undo,
    writableFolders: writableFolders(loaded, variables),
    guard,
    wrapCommand: (command, options) => sandbox.wrap(command, options),
    wrapReader: (command, readable) => sandbox.wrapReader(command, readable),
  });
  const permissions: RunPermissions = new RunPermissions({
    loaded,
    variables,
    root,
    ownFolders: hidden,
    guard,
    outputDirectory,
    workspace: toolbox.workspace,
    isSandboxed: async () => (await sandbox.find()).kind !== "none",
    whyNotContained: () => sandbox.whyNotContained(),
    originator: place.originator,
    before: place.before,
  });
  const { history } = place;
  const security = new RunSecurity({ bus, permissions, sandbox, tools: toolbox, variables, profilePath, history });
  const close = async () => {
    await toolbox.close();
    await sandbox.close();
    await undo.flush();
    undo.close();
    await keepOutputs(outputs, session, sessions);
  };
  return { undo, toolbox, permissions, security, sandbox, close };
}

function planSwitch(permissions: RunPermissions): PlanSwitch {
  return {
    enter: async () => (await permissions.parts()).engine.plan.enter(),
    exit: async ({ approve, client, turn }) => {
      const { plan } = (await permissions.parts()).engine;
      const questioned = { originator: turn.id, originatorIdentity: turn.identity };
      const left = plan.exit({ approve, client, turn: questioned });
      return left.ok ? undefined : left.reason;
    },
  };
}

/** What changes within a session is told with the input that it matters to: the system prompt stays as it was. */
function inputNotices(facts: {
  readonly day: () => string;
  /** The day that the model knows of. */
  readonly told: string;
  readonly isPlanning: () => boolean;
}) {
  let { told } = facts;
  return () => {
    const today = facts.day();
    const notices = [
      ...(today === told ? [] : [`The date is now ${today}.`]),
      ...(facts.isPlanning() ? [PLAN_MODE_INSTRUCTION] : []),
    ];
    told = today;
    return notices.length === 0 ? undefined : notices.join("\n\n");
  };
}

/** Made once: its bytes must not change within a session, also when that goes on another day. */
function promptOf(
  { loaded, root, content }: EngineParts,
  { date, size }: { readonly date: string; readonly size: "full" | "small" },
): string {
  const override = loaded.settings.system_prompt.value;
  const instructions = content?.instructions;
  const { tool_sets, untrusted_results } = loaded.settings;
  const wraps = untrusted_results.value === "wrap" && tool_sets.value.length > 0;
  const hasOutside = instructions !== undefined || wraps || tool_sets.value.includes("web");
  return systemPrompt({
    workspace: root,
    platform: process.platform,
    date,
    notices: hasOutside ? [STANDING_INSTRUCTION] : [],
    instructions,
    size,
    ...(override !== undefined && { override }),
  });
}

/** As the profile names them, without the repository, which holds no programs to start. */
function writableFolders({ settings }: LoadedSettings, variables: Variables): readonly string[] {
  const named = settings.sandbox_writable.value.filter((folder) => folder !== "git");
  return named.map((folder) => folder.replace(/^~(?=\/)/, () => variables.HOME ?? "~"));
}

/** In the background: a command does not wait for it, and what is left is trimmed with the next output. */
function trimLater(outputs: string, limit: number): void {
  void import("../sessions/outputs.js").then(({ trimOutputs }) => trimOutputs(outputs, limit)).catch(() => {});
}

/** Where nothing is stored of a session, nothing of its outputs stays either. */
async function keepOutputs(outputs: string, session: SessionId, sessions: EngineParts["sessions"]): Promise<void> {
  const { removeIfEmpty, removeOutputs } = await import("../sessions/outputs.js");
  const isStored = (await sessions.choice()).kind !== "none";
  await (isStored ? removeIfEmpty(join(outputs, session)) : removeOutputs(outputs, session));
}
