/** Describes what a run needs before its session opens: settings, approved content, the model, the engine and a client. */

import { resolve } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { TurnStats } from "../../base/turn-stats.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import { connectInProcess } from "../../control/transports/inproc.js";
import { type ParsedFlags, parseFlags } from "../../feature/flags.js";
import type { EngineClient } from "../../protocol/client.js";
import type { ModelName } from "../../protocol/events.js";
import { programFlags } from "../../runtime/content/content-options.js";
import { enterPlace } from "../../runtime/content/enter-place.js";
import type { ProjectContent } from "../../runtime/content/project-content.js";
import type { Chosen, ModelChoice, ModelRegistry } from "../../runtime/models/model-registry.js";
import { ModelRoutes } from "../../runtime/models/model-routes.js";
import { type ModelPlace, modelsOf, settingsChoice } from "../../runtime/models/place-models.js";
import { createEngine, type Engine } from "../../runtime/open-engine.js";
import type { RunCassette } from "../../runtime/parts/cassette.js";
import { pluginsOf } from "../../runtime/plugins/plugins-of.js";
import { SessionStores } from "../../runtime/sessions/session-stores.js";
import { type LoadedSettings, loadSettings, patient } from "../../runtime/settings/settings.js";
import { unreadInstructions } from "../../security/trust/unread-instructions.js";
import type { SessionRecord } from "../../sessions/store.js";
import { homeProblem } from "../../system/home-folder.js";
import { createLog, type LogFunction } from "../../system/log.js";
import { isAgent, isInsideEngine } from "../../system/model-ancestors.js";
import { nodeClock } from "../../system/node-clock.js";
import { refuseWideningFlags } from "../agent-limits.js";
import { cassetteOf } from "../commands/run-cassette-flags.js";
import { RUN_FLAGS } from "../commands/run-flags.js";
import { FailedRun } from "../failed-run.js";
import { printMessage } from "../print-message.js";
import { askOnce, personPresent, trustLook } from "../terminal-io.js";
import { findRoot, folderOf, sessionToResume } from "./resumed-folder.js";

/** Usually the first request has been sent by then, and late loading has not started. */
const SENT_MS = 20;

export interface Prepared extends Conversation {
  readonly engine: Engine;
  readonly chosen: Chosen;
  readonly cassette: RunCassette | undefined;
  readonly log: LogFunction;
  /** Shows a message to the person. */
  readonly notify: (message: string) => void;
  /** The folder that the session works in. */
  readonly root: string;
  /** The session to resume. */
  readonly resume: SessionRecord | undefined;
}

/** Describes what a conversation needs. The engine may be in this process or in another one. */
export interface Conversation {
  readonly client: EngineClient;
  readonly clock: Clock;
  readonly chosen: { readonly model: ModelName; readonly note?: string | undefined };
  readonly loaded: LoadedSettings;
  readonly resume: Pick<SessionRecord, "id" | "title"> | undefined;
  /** Redirects messages of the engine to `show`. */
  readonly onMessages: (show: (message: string) => void) => void;
  /** The last turns of a resumed session, for the time estimate on a terminal. */
  recentTurns(): Promise<readonly TurnStats[]>;
}

interface PrepareOptions {
  readonly rawTrace: boolean;
  readonly variables: Variables;
  readonly terminal: Terminal;
  /** A person talks with the model, so questions have no time limit. */
  readonly isConversation?: boolean;
  /** The terminal client opens first and shows what waits for approval. */
  readonly asksLater?: boolean;
  /** Another program talks with Oxbow: content that the user has not approved is left out. */
  readonly skipsUnapproved?: boolean;
  /** The time between two lines of the offline model's answers; default: none. */
  readonly offlineLineMs?: number;
  /** The engine has no terminal: each session has a place of its own. */
  readonly isDetached?: true;
  /** Absent to open a conversation. */
  readonly prompt?: string | undefined;
}

export async function prepare(flags: ParsedFlags, options: PrepareOptions): Promise<Prepared> {
  const { variables, terminal, offlineLineMs } = options;
  refuseWideningFlags(variables, flags);
  const own = atTerminal(await loadSettings(flags, variables), options);
  for (const warning of own.warnings) printMessage(warning);
  requireHome(own);
  const log = openLog(own, flags);
  const { notify, onMessages } = messages();
  // Scripts may read stderr: a notice must not break them.
  const hint = (message: string) => (terminal.showProgress ? notify(message) : log("info", "sessions", message));
  const { sessions, resume, root, content, loaded } = await enterFolder(flags, { ...options, own, notify, hint });
  const cassette = await cassetteOf(flags, { variables, root, state: own.roots.state });
  const plugins = await pluginsOf({ loaded, content, variables, root, clock: nodeClock, log, notify });
  const about = { loaded, variables, root, notify, content };
  const registry = await modelsOf(about, { plugins, cassette, offlineLineMs });
  const routes = new ModelRoutes({ loaded, registry, clock: nodeClock });
  const earlier = resume ?? cassette?.model;
  const chosen = await modelOfRun(flags, { ...about, registry, routes, terminal, earlier });
  cassette?.begins(chosen.model);
  const place = { root, loaded, content, registry, routes, model: chosen.model };
  const isReplay = flags.has("replay");
  const engine = createEngine({
    ...{ place, variables, sessions, log, isReplay, notify, hint, flags, plugins },
    readFlags: (words, environment) => {
      const brought = parseFlags(RUN_FLAGS, words, "run");
      refuseWideningFlags(environment, brought);
      return brought;
    },
    isDetached: options.isDetached === true,
    isAlone: options.prompt !== undefined,
    writesTraffic: options.rawTrace,
  });
  const { clock } = engine;
  const client = connectInProcess(engine.host, {
    ...{ id: engine.newClientId(), ...ownRights(variables) },
    name: `terminal, process ${process.pid}`,
  });
  if (options.isDetached) client.close();
  // After the first request was sent.
  setTimeout(() => void afterFirstRequest(), SENT_MS).unref();
  const timed = terminal.showProgress ? resume : undefined;
  const recentTurns = async () => {
    const store = timed && (await sessions.open());
    if (store === undefined || timed === undefined) return [];
    return (await import("../../sessions/recent-turns.js")).recentTurns(store, timed).catch(() => []);
  };
  return { engine, client, clock, chosen, loaded, log, cassette, root, resume, notify, onMessages, recentTurns };
}

/** Without these folders nothing is saved and no command runs. A prompt that does without both still works. */
function requireHome({ roots, settings }: LoadedSettings): void {
  const problem = homeProblem([roots.data, roots.state, roots.cache]);
  if (problem === undefined) return;
  if (settings.store.value !== "none") throw new UsageError(problem);
  printMessage(`${problem} Commands do not run without it.`);
}

interface EnteredFolder {
  readonly sessions: SessionStores;
  readonly resume: SessionRecord | undefined;
  readonly root: string;
  readonly loaded: LoadedSettings;
  readonly content: ProjectContent;
}

/** The folder that the session works in, with its settings and approved content. */
async function enterFolder(
  flags: ParsedFlags,
  options: PrepareOptions & {
    readonly own: LoadedSettings;
    readonly notify: (message: string) => void;
    readonly hint: (message: string) => void;
  },
): Promise<EnteredFolder> {
  const { variables, terminal, own, notify, hint } = options;
  const { settings, roots } = own;
  const here = await findRoot(resolve(flags.text("cwd") ?? process.cwd()));
  const sessions = new SessionStores({ settings, roots, variables, root: here, notify, hint });
  const resume = await sessionToResume(flags, sessions, here);
  const root = resume === undefined || flags.has("cwd") ? here : await folderOf(resume, { here, sessions, notify });
  const entered = await enterPlace({
    ...{ loaded: own, variables, root, notify },
    ...trustLook(terminal, { asksLater: options.asksLater === true }),
    skipUnapproved: options.skipsUnapproved === true || flags.has("skip-unapproved"),
    ...programFlags(flags),
  });
  if ("failure" in entered) {
    throw new FailedRun(entered.failure);
  }
  const loaded = atTerminal(entered.loaded, options);
  const unread = unreadInstructions(loaded, root);
  if (unread !== undefined) hint(unread);
  return { sessions, resume, root, loaded, content: entered.content };
}

function openLog({ settings, roots }: LoadedSettings, flags: ParsedFlags): LogFunction {
  return createLog({
    directory: resolve(roots.state, "log"),
    wall: Date.now,
    levels: settings.log.value,
    ...(flags.has("log-to-stderr") && { toStderr: (line: string) => void process.stderr.write(line) }),
  });
}

/** Messages go to the standard error until a client shows them. */
function messages(): Pick<Prepared, "notify" | "onMessages"> {
  let show: (message: string) => void = printMessage;
  return {
    notify: (message) => show(message),
    onMessages: (other) => {
      show = other;
    },
  };
}

async function afterFirstRequest(): Promise<void> {
  const { sweepTemporaryEntries } = await import("../../system/temporary-entries.js");
  await sweepTemporaryEntries();
}

function atTerminal(loaded: LoadedSettings, { isConversation }: { readonly isConversation?: boolean }): LoadedSettings {
  return isConversation ? patient(loaded) : loaded;
}

/** A command of a model can make a terminal of its own, and remove the variable that marks it. */
function ownRights(variables: Variables): { readonly identity: "human" | "agent"; readonly canAnswer: boolean } {
  const isHere = personPresent();
  const identity = (isHere ? isInsideEngine(variables) : isAgent(variables)) ? "agent" : "human";
  return { identity, canAnswer: isHere && identity === "human" };
}

/** A resumed session keeps its model, unless the flags name another. */
function namesModel(flags: ParsedFlags): boolean {
  return flags.has("model") || flags.has("provider");
}

/** The model that the flags name, that of the resumed session or cassette (`earlier`), or that of the settings. */
async function modelOfRun(
  flags: ParsedFlags,
  from: ModelPlace & {
    readonly registry: ModelRegistry;
    readonly routes: ModelRoutes;
    readonly terminal: Terminal;
    readonly earlier: ModelChoice | undefined;
  },
): Promise<Chosen> {
  const { registry, routes, terminal, earlier, ...place } = from;
  const { provider, model } = place.loaded.settings;
  const named = namesModel(flags) ? { provider: provider.value, model: model.value } : earlier;
  const choice = named ?? (await settingsChoice(place));
  return (await routes.choose(choice)) ?? chooseModel(registry, { choice, notify: place.notify, terminal });
}

/** Shows a line while slow servers have not answered. */
async function chooseModel(
  registry: ModelRegistry,
  { choice, notify, terminal }: { choice: ModelChoice; notify: (message: string) => void; terminal: Terminal },
): Promise<Chosen> {
  const person = personPresent() ? { ask: askOnce, notify } : undefined;
  if (!terminal.showProgress) return registry.choose(choice, person);
  const { LookingLine } = await import("../looking-line.js");
  const write = (text: string) => void process.stderr.write(text);
  const line = new LookingLine("oxbow · looking for models …", { write, clock: nodeClock });
  const personAfterLine = person && {
    ask: (...question: Parameters<typeof askOnce>) => {
      line.end();
      return person.ask(...question);
    },
    notify: (message: string) => {
      line.end();
      notify(message);
    },
  };
  try {
    return await registry.choose(choice, personAfterLine);
  } finally {
    line.end();
  }
}
