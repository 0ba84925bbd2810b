/** Opens one session: makes its parts in order, joins them and starts the run. */
import { OutsideResults } from "../chain/outside-results.js";
import type { Command } from "../commands/command.js";
import type { RunRequest } from "../control/host.js";
import { PermissionPrompts } from "../control/permission-prompts.js";
import type { Run } from "../control/run.js";
import { Bus } from "../engine/bus.js";
import type { Effort } from "../engine/ports.js";
import type { Envelope } from "../protocol/envelope.js";
import type { Failure } from "../protocol/errors.js";
import { timedOut } from "../security/permissions/identity.js";
import { type AssemblyOptions, assemble } from "./assemble.js";
import { modelFits } from "./models/model-fit.js";
import type { SessionParts } from "./open-engine.js";
import { closeParts, type PartContext, type SessionPart } from "./part.js";
import { RunCompaction } from "./parts/compaction.js";
import { RunCosts } from "./parts/costs.js";
import { type OpenedJournal, openJournal } from "./parts/journal.js";
import type { RunPermissions } from "./parts/permissions.js";
import { inputNotices, promptOf } from "./parts/prompt.js";
import { RunRecording } from "./parts/recording.js";
import type { RunSandbox } from "./parts/sandbox.js";
import type { RunSecurity } from "./parts/security.js";
import { modeSwitch, planSwitch, toolsPart } from "./parts/tools.js";
import { pastEvents, type ResumedSession, resumeSession, takeUp } from "./sessions/resumed-session.js";
import { sessionMark } from "./sessions/session-mark.js";

export interface OpenedRun {
  readonly run: Run;
  readonly costs: RunCosts;
  readonly compaction: RunCompaction;
  readonly recording: RunRecording;
  readonly security: RunSecurity;
  readonly effort: RunEffort;
  readonly permissions: RunPermissions;
  readonly sandbox: RunSandbox;
  /** The commands that the parts of this session add. */
  readonly commands: readonly Command[];
}

/** How much the model thinks; undefined is the model's own default. */
export interface RunEffort {
  level: Effort | undefined;
}

/** `before`: the run whose model, effort, rules, budget and recording the new one keeps. */
export async function openRun(
  engine: SessionParts,
  request: RunRequest,
  before?: OpenedRun,
): Promise<OpenedRun | { readonly failure: Failure }> {
  const choosesModel = before === undefined || request.place?.model !== undefined;
  const parts = choosesModel ? engine : { ...engine, model: before.run.model };
  const resumed = request.resume && (await resumeSession(parts.sessions, request.resume));
  if (resumed !== undefined && "failure" in resumed) return resumed;
  try {
    return await openSessionRun(contextOf(parts, request, { resumed, before }));
  } catch (error) {
    await resumed?.lease.release();
    throw error;
  }
}

/** What the built-in parts are made of. */
interface Opening extends PartContext {
  readonly engine: SessionParts;
  readonly request: RunRequest;
  readonly resumed: ResumedSession | undefined;
  readonly before: OpenedRun | undefined;
  /** The run, as soon as there is one. */
  readonly current: { run?: Run };
}

function contextOf(
  engine: SessionParts,
  request: RunRequest,
  { resumed, before }: Pick<Opening, "resumed" | "before">,
): Opening {
  const { clock, log, root } = engine;
  const session = resumed?.record.id ?? engine.ids.next("sess");
  const bus = new Bus({
    session,
    originator: request.originator,
    clock,
    firstId: (resumed?.record.last_event ?? 0) + 1,
    onSubscriberError: (error) => log("error", "engine", "a subscriber failed", { error: String(error), session }),
  });
  return { session, bus, root, clock, log, engine, request, resumed, before, current: {} };
}

async function openSessionRun(opening: Opening): Promise<OpenedRun> {
  const { engine, session, bus, resumed, before, current } = opening;
  const { log, clock, hint } = engine;
  const published: Envelope[] = [];
  const stopCollecting = bus.subscribe((event) => published.push(event));
  const built = await builtInParts(opening);
  const parts = await allParts(opening, built.parts);
  const assembly = assemble({ ...assemblyBase(opening, built), parts });
  log("info", "engine", resumed ? "session resumed" : "session opened", { session, model: engine.model.model });
  const { timeout_ms } = engine.loaded.settings;
  const run = assembly.createRun({
    route: engine.routes.route,
    plan: planSwitch(built.permissions),
    setMode: modeSwitch(built.permissions),
    inputNotice: inputNotices({
      day: () => dayOf(clock.wall()),
      // The input of the last turn brought the date of its day.
      known: resumed?.lastTurnAt?.slice(0, 10) ?? beginOf(opening),
      isPlanning: () => built.permissions.planning,
    }),
    ...(resumed && {
      conversation: await takeUp(resumed, { bus, ports: assembly.ports }),
      waiting: resumed.rebuilt.waiting,
    }),
    opening: published,
    ...(timeout_ms.value !== undefined && { turnTimeoutMs: timeout_ms.value }),
    saved: () => built.journal.saved(),
  });
  current.run = run;
  stopCollecting();
  const left = resumed?.rebuilt.waiting.length ?? 0;
  if (left > 0)
    hint(
      `${left} input${left === 1 ? "" : "s"} that waited when the session was stopped will go along with your next one.`,
    );
  const { recording, costs, compaction, effort, permissions, sandbox, security } = built;
  if (before !== undefined) await recording.takeOver(before.recording);
  const commands = parts.flatMap((part) => part.commands ?? []);
  return { run, recording, costs, compaction, effort, permissions, sandbox, security, commands };
}

/** The added parts come last: what they supply counts, and they are closed while the built-in ones still work. */
async function allParts(opening: Opening, builtIn: readonly SessionPart[]): Promise<readonly SessionPart[]> {
  const added: SessionPart[] = [];
  try {
    for (const create of opening.engine.parts ?? []) added.push(await create(opening));
  } catch (error) {
    await closeParts([...builtIn, ...added]);
    throw error;
  }
  return [...builtIn, ...added];
}

/** The built-in parts, each made of what it needs of the ones before it. */
async function builtInParts(opening: Opening) {
  const { engine, session, bus, resumed, before, current } = opening;
  const { sessions, clock, root } = engine;
  const { settings } = engine.loaded;
  const tools = toolsPart(engine, {
    session,
    bus,
    turnsBefore: resumed === undefined ? 0 : resumed.turns,
    originator: () => current.run?.originator.identity ?? "human",
    history: resumed && (() => pastEvents(sessions, resumed.record)),
    before: before?.permissions,
  });
  const journal = await openSessionJournal(opening);
  const costs = new RunCosts({
    ...engine,
    ...engine.loaded,
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
    summaryModel: () => engine.routes.summary(),
    conversation: () => current.run?.conversation ?? [],
    journal,
    onShortened: () => engine.content?.forget(),
  });
  const effort: RunEffort = { level: before === undefined ? settings.effort.value : before.effort.level };
  const model = () => `${current.run?.model.provider}:${current.run?.model.model}`;
  const recording = new RunRecording({ bus, workspace: root, model, wall: clock.wall, notify: engine.notify });
  const parts: readonly SessionPart[] = [
    { name: "models", services: modelServices(engine, effort) },
    { name: "content", services: { content: engine.content } },
    { name: "compaction", services: { compaction, outside } },
    { name: "costs", services: { costs } },
    { name: "journal", services: { journal }, close: () => journal.close() },
    { name: "recording", close: () => recording.stop() },
    tools.part,
  ];
  const { toolbox, permissions, security, sandbox } = tools;
  return { parts, journal, costs, compaction, effort, recording, toolbox, permissions, security, sandbox };
}

type BuiltIn = Awaited<ReturnType<typeof builtInParts>>;

function openSessionJournal({ engine, session, resumed, current }: Opening): Promise<OpenedJournal> {
  const { log, notify } = engine;
  return openJournal({
    ...engine,
    session,
    resumed,
    onFailure: (cause) => {
      log("error", "sessions", "the session cannot be saved", { session, error: cause.message });
      if (current.run?.busy) current.run.fail("session store", cause);
      else notify(cause.message);
    },
  });
}

/** Which model answers, how hard it thinks and how often it is tried. */
function modelServices(engine: SessionParts, effort: RunEffort): NonNullable<SessionPart["services"]> {
  const { settings, roots } = engine.loaded;
  const { routes, clock, variables, hint } = engine;
  return {
    openRoute: (name) => routes.open(name),
    retry: { clock, random: Math.random, totalWaitMs: settings.retry_wait_ms.value },
    fit: modelFits({ variables, roots, hint }),
    effort: () => effort.level,
    ...(settings.max_output_tokens.value !== undefined && { maxOutputTokens: settings.max_output_tokens.value }),
  };
}

function assemblyBase(opening: Opening, built: BuiltIn): Omit<AssemblyOptions, "parts"> {
  const { engine, session, bus, request } = opening;
  const { clock, ids, log } = engine;
  const { settings } = engine.loaded;
  const { permissions, costs } = built;
  const timeout = settings.permission_timeout.value;
  const limit = timeout === undefined ? undefined : { clock, ms: timeout, answer: timedOut(timeout) };
  const date = beginOf(opening);
  const prompts = {
    full: promptOf(engine, { date, size: "full" }),
    small: promptOf(engine, { date, size: "small" }),
  };
  return {
    session,
    bus,
    model: engine.model,
    tools: built.toolbox,
    permissionPrompts: new PermissionPrompts(bus, request.personPresent, limit),
    services: { session, log, gate: permissions, systemPrompt: (size) => prompts[size] },
    ports: {
      clock,
      ids,
      mayStartEarly: (call, tool) => permissions.mayStartEarly(call, tool),
      toolExecution: "batched",
      maxIterations: settings.max_iterations.value,
      maxAnswerCharacters: settings.max_answer_chars.value,
      countCutOff: async (answer) => (await import("../chain/count-cut-off.js")).countCutOff(answer, costs),
    },
  };
}

/** The day on which the session began. */
function beginOf({ resumed, engine }: Opening): string {
  return resumed?.record.created_at.slice(0, 10) ?? dayOf(engine.clock.wall());
}

function dayOf(wall: number): string {
  return new Date(wall).toISOString().slice(0, 10);
}
