/** Opens one session: makes its parts in order, joins them and starts the run. */
import { join } from "node:path";
import { NO_EXTENSIONS } from "../base/extension-files.js";
import { variantFor } from "../context/instructions/prompt-variants.js";
import type { RunRequest } from "../control/host.js";
import type { LeftInput } from "../control/inbox.js";
import { PermissionPrompts } from "../control/permission-prompts.js";
import { withReplaced } from "../control/replaced-ids.js";
import type { Run } from "../control/run.js";
import { Bus } from "../engine/bus.js";
import type { CallFacts } from "../engine/ports.js";
import { WatchedExtensions } from "../extensions/hooks/watched-extensions.js";
import type { Envelope } from "../protocol/envelope.js";
import type { Failure } from "../protocol/errors.js";
import { timedOut } from "../security/permissions/identity.js";
import { notSaved } from "../sessions/not-saved.js";
import { branchOf } from "../system/git/branch.js";
import { type AssemblyOptions, assemble } from "./assemble.js";
import type { SessionParts } from "./open-engine.js";
import { Built, type BuiltParts, type OpenedRun, type Opening } from "./opening.js";
import { closeParts, type SessionPart } from "./part.js";
import { BUILT_IN } from "./parts/built-in.js";
import { openFolders } from "./parts/folders.js";
import { builtInSet } from "./parts/own-tools.js";
import { inputNotices, SessionPrompt } from "./parts/prompt.js";
import { modeSwitch, planSwitch } from "./parts/tools.js";
import { earlierPermissions } from "./sessions/earlier-permissions.js";
import { resumeSession, takeUp, type WholeEnds } from "./sessions/resumed-session.js";
import { type ParentRun, SubagentPrompts } from "./subagents.js";

export interface OpenRunOptions {
  /**
   * The run whose budget and recording the new one continues. With the same profile it also keeps the model, the effort and the rules:
   * a session with another profile begins with the settings of that profile.
   */
  readonly previous?: OpenedRun | undefined;
  /** The session that starts it as a subagent. */
  readonly parent?: ParentRun;
}

export async function openRun(
  engine: SessionParts,
  request: RunRequest,
  { previous, parent }: OpenRunOptions = {},
): Promise<OpenedRun | { readonly failure: Failure }> {
  const before = request.place?.profile === undefined ? previous : undefined;
  const choosesModel = before === undefined || request.place?.model !== undefined;
  const parts = choosesModel ? engine : { ...engine, model: before.run.model };
  const resumed = request.resume && (await resumeSession(parts.sessions, request.resume, endsOf(parts)));
  if (resumed !== undefined && "failure" in resumed) return resumed;
  try {
    const back = await earlierPermissions(request, before, engine);
    if (back !== undefined && "failure" in back) {
      await resumed?.lease.release();
      return back;
    }
    const folders =
      parent?.folders ?? (await openFolders(parts, [...(resumed?.folders ?? []), ...(previous?.folders.added ?? [])]));
    if ("failure" in folders) {
      await resumed?.lease.release();
      return folders;
    }
    const own = { ...parts, loaded: folders.loaded };
    return await openSessionRun(contextOf(own, request, { resumed, before, back, previous, parent, folders }));
  } catch (error) {
    await resumed?.lease.release();
    throw error;
  }
}

/** Tells how calls ended whose changes are applied as a whole or not at all. */
function endsOf({ loaded, notify }: SessionParts): WholeEnds {
  return async (calls) => {
    const { finishAbandoned } = await import("../security/change-gate/held-changes.js");
    return finishAbandoned(join(loaded.roots.state, "sandbox"), { notify, calls });
  };
}

function contextOf(
  engine: SessionParts,
  request: RunRequest,
  made: Pick<Opening, "resumed" | "before" | "back" | "previous" | "parent" | "folders">,
): Opening {
  const { clock, log, root } = engine;
  const { resumed, parent } = made;
  const session = resumed?.record.id ?? request.resume?.resume ?? engine.ids.next("sess");
  // A session that opens anew: its client may have seen events of a run that stored nothing.
  const anew = resumed === undefined && request.resume !== undefined ? withReplaced([], 0) : undefined;
  const replaced = resumed?.wasCutOff ? resumed.replaced : anew;
  const bus = new Bus({
    session,
    originator: request.originator,
    clock,
    firstId: (resumed?.record.last_event ?? 0) + 1,
    lastAt: resumed?.lastAt,
    first: replaced && { kind: "SessionContinued", payload: { replaced } },
    onSubscriberError: (error) => log("error", "engine", "a subscriber failed", { error: String(error), session }),
  });
  const person = promptsOf({ engine, session, bus, request, parent });
  const built = new Built();
  built.add({ folders: made.folders });
  const all = engine.content?.extensions ?? NO_EXTENSIONS;
  const { notify } = engine;
  const extensions = parent?.extensions ?? new WatchedExtensions(all, { events: () => built.find("events"), notify });
  return {
    session,
    bus,
    root,
    clock,
    log,
    extensions,
    engine,
    request,
    person,
    ...made,
    current: {},
    built,
  };
}

async function openSessionRun(opening: Opening): Promise<OpenedRun> {
  const { engine, session, bus, resumed, previous, current, request } = opening;
  const { log, clock, hint } = engine;
  const published: Envelope[] = [];
  const stopCollecting = bus.subscribe((event) => published.push(event));
  const parts = await createParts(opening);
  current.parts = parts;
  const built = opening.built.all();
  const prompt = new SessionPrompt(engine, { date: beginOf(opening), parent: opening.parent, parts });
  const assembly = assemble({ ...assemblyBase(opening, built, prompt), parts });
  log("info", "engine", resumed ? "session resumed" : "session opened", { session, model: engine.model.model });
  const timeoutMs = timeoutOf(opening);
  const run = assembly.createRun({
    route: engine.routes.route,
    plan: planSwitch(built.permissions),
    folders: () => opening.folders.added,
    setMode: modeSwitch(built.permissions),
    inputNotice: inputNotices({
      day: () => dayOf(clock.wall()),
      // The input of the last turn contained its date.
      known: resumed?.lastTurnAt?.slice(0, 10) ?? beginOf(opening),
      // A subagent that only reads has a task of its own: no one approves a plan of it.
      isPlanning: () => built.permissions.planning && opening.parent?.onlyReads !== true,
      isSubagent: opening.parent !== undefined,
      branch: () => branchOf(engine.root),
      changedFiles: async () => (await import("../system/git/changed-files.js")).countChangedFiles(engine.root),
      approved: () => prompt.takeApproved(),
      parts,
    }),
    ...(resumed && {
      conversation: await takeUp(resumed, { bus, ports: assembly.ports }),
      waiting: resumed.rebuilt.waiting,
      replaced: resumed.replaced,
      hasPlan: resumed.hasPlan,
    }),
    opening: published,
    ...(timeoutMs !== undefined && { turnTimeoutMs: timeoutMs }),
    saved: () => built.journal.saved().then(() => undefined, notSaved),
    savedTo: () => built.journal.savedTo(),
  });
  current.run = run;
  if (request.carry !== undefined) await carryOver(request.carry, run);
  stopCollecting();
  for (const line of leftInputs(resumed?.rebuilt.waiting ?? [])) hint(line);
  if (previous !== undefined) await built.recording.takeOver(previous.recording);
  return { ...built, run, parts, extensions: opening.extensions };
}

/** Tells what becomes of input that waited when the session was stopped. */
function leftInputs(waiting: readonly LeftInput[]): readonly string[] {
  const people = waiting.filter(({ identity }) => identity === "human").length;
  const agents = waiting.length - people;
  const count = (number: number) => `${number} input${number === 1 ? "" : "s"}`;
  return [
    ...(people > 0 ? [`With your next input Oxbow sends ${count(people)} that waited when the session stopped.`] : []),
    ...(agents > 0
      ? [`Your next input runs after ${count(agents)} of agents that waited when the session stopped.`]
      : []),
  ];
}

/** In the log it is a compaction, so a resumed session begins with it, too. */
async function carryOver(summary: string, { bus, conversation }: Run): Promise<void> {
  const { summaryMessage } = await import("../context/compaction/summary-message.js");
  conversation.push(summaryMessage(summary));
  bus.publish("CompactionTriggered", { reason: "carried over", summary });
}

/** Parts from outside come after the built-in ones: their services override, and they are closed while the built-in ones still work. */
async function createParts(opening: Opening): Promise<readonly SessionPart[]> {
  const parts: SessionPart[] = [];
  try {
    for (const create of [...BUILT_IN, ...(opening.engine.parts ?? [])]) parts.push(await create(opening));
  } catch (error) {
    await closeParts(parts);
    throw error;
  }
  return parts;
}

/** Counts the turns of the session, also those before this run. */
function callFacts({ bus, resumed, parent }: Opening): () => CallFacts {
  let turn = resumed?.turns ?? 0;
  bus.subscribe(({ kind }) => {
    if (kind === "TurnStarted") turn++;
  });
  return () => ({ turn, ...(parent && { agent: parent.name.type }) });
}

function assemblyBase(opening: Opening, built: BuiltParts, prompt: SessionPrompt): Omit<AssemblyOptions, "parts"> {
  const { engine, session, bus, parent } = opening;
  const { clock, ids, log } = engine;
  const { settings } = engine.loaded;
  const { permissions, costs } = built;
  // A subagent has a prompt of its own.
  const variant =
    parent === undefined
      ? variantFor(session, { all: settings.prompt_variants.value, chosen: settings.prompt_variant.value })
      : undefined;
  return {
    session,
    bus,
    model: engine.model,
    tools: built.toolbox,
    mayUse: (tool) => settings.tool_sets.value.offers(tool, builtInSet(tool)) && (parent?.mayUse(tool) ?? true),
    permissionPrompts: opening.person,
    services: {
      session,
      log,
      gate: permissions,
      systemPrompt: (size) => prompt.text(size),
      callFacts: callFacts(opening),
      ...(variant && { promptVariant: variant.text }),
    },
    ports: {
      clock,
      ids,
      mayStartEarly: (call, tool) => permissions.mayStartEarly(call, tool),
      ...(variant && { promptVariant: variant.name }),
      toolExecution: "batched",
      maxIterations: Math.min(settings.max_iterations.value, parent?.maxIterations ?? Number.POSITIVE_INFINITY),
      maxAnswerCharacters: settings.max_answer_chars.value,
      countCutOff: async (answer) => (await import("../chain/count-cut-off.js")).countCutOff(answer, costs),
    },
  };
}

/** The clients of a subagent are those of the session that started it. */
function promptsOf({
  engine,
  session,
  bus,
  request,
  parent,
}: Pick<Opening, "engine" | "session" | "bus" | "request" | "parent">): PermissionPrompts {
  if (parent !== undefined)
    return new SubagentPrompts(bus, { name: { ...parent.name, session }, outer: parent.prompts });
  const timeout = engine.loaded.settings.permission_timeout.value;
  const limit = timeout === undefined ? undefined : { clock: engine.clock, ms: timeout, answer: timedOut(timeout) };
  return new PermissionPrompts(bus, request.personPresent, limit);
}

/** The turn of a subagent ends with its parent's, or earlier. */
function timeoutOf({ engine, parent }: Opening): number | undefined {
  return parent === undefined ? engine.loaded.settings.timeout.value : parent.timeoutMs;
}

/** The day on which the session began. */
function beginOf({ resumed, engine }: Opening): string {
  return resumed?.record.created_at.slice(0, 10) ?? dayOf(engine.clock.wall());
}

function dayOf(wall: number): string {
  return new Date(wall).toISOString().slice(0, 10);
}
