/** `oxbow "prompt"`, `oxbow run`, and the plain line client when there is no prompt. */
import { resolve } from "node:path";
import { safeText } from "../../base/terminal-text.js";
import { estimateFrom, type TurnStats } from "../../base/turn-stats.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { OUTPUT_FORMATS, type OutputFormat, runOneShot } from "../../clients/headless/one-shot.js";
import type { Problem } from "../../clients/headless/repl.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { Block } from "../../clients/tui/content/block.js";
import { helpLines, type ParsedFlags, parseFlags } from "../../commands/flags.js";
import { connectInProcess } from "../../control/transports/inproc.js";
import type { EngineClient } from "../../protocol/client.js";
import type { CommandPayloads, OrphanVerdict } from "../../protocol/commands.js";
import type { ImageBlock } from "../../protocol/content.js";
import type { SessionEndReason } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { isAgent, refuseWideningFlags } from "../../runtime/agent-limits.js";
import { ProjectContent } from "../../runtime/content/project-content.js";
import {
  type Chosen,
  createModelRegistry,
  type ModelChoice,
  type ModelRegistry,
} from "../../runtime/models/model-registry.js";
import { ModelRoutes } from "../../runtime/models/model-routes.js";
import { createEngine, type Engine } from "../../runtime/open-engine.js";
import type { RunCassette } from "../../runtime/parts/cassette.js";
import { LeaseWait, waitLimit } from "../../runtime/sessions/lease-wait.js";
import { SessionStores } from "../../runtime/sessions/session-stores.js";
import { type LoadedSettings, loadSettings, localOptions, type Settings } from "../../runtime/settings/settings.js";
import type { SessionRecord } from "../../sessions/store.js";
import { createLog } from "../../system/log.js";
import { nodeClock } from "../../system/node-clock.js";
import { WorkspaceError } from "../../tools/files/workspace-error.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { EXIT, exitCodeOf, exitCodeOfFailure } from "../exit-codes.js";
import { outputGuard } from "../output-guard.js";
import { refuseTooLong, wholePrompt } from "../prompt-input.js";
import { stopOnSignals } from "../stop-signals.js";
import { askOnce, personPresent, processTerminal, trustLook } from "../terminal-io.js";
import { cassetteOf, concludeCassette } from "./run-cassette-flags.js";
import { RUN_FLAGS } from "./run-flags.js";

/** By then the first request has gone out, as a rule, and what is loaded after it has not begun to come. */
const SENT_MS = 20;

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  return runPrompt(parseFlags(RUN_FLAGS, args, "run"), { variables, rawTrace: false });
}

export interface PromptOptions {
  readonly variables: Variables;
  readonly rawTrace: boolean;
}

export async function runPrompt(flags: ParsedFlags, options: PromptOptions): Promise<number> {
  const { variables } = options;
  if (flags.has("help")) {
    process.stdout.write(`Usage: oxbow run [PROMPT] [flags]\n\n${helpLines(RUN_FLAGS)}\n`);
    return EXIT.answered;
  }
  const format = outputFormat(flags);
  const command = await slashCommand(flags, variables);
  if (command !== undefined) return command(format);
  const terminal = processTerminal(variables, { verbose: flags.has("verbose") });
  const prompt = await wholePrompt(flags, terminal);
  const images = await imagesOf(flags);
  const isConversation = prompt === undefined && personPresent();
  const prepared = await prepare(flags, { ...options, terminal, isConversation });
  if ("exit" in prepared) return prepared.exit;
  let reason: SessionEndReason = "binary-shutdown";
  try {
    await refuseTooLong(prompt, prepared.chosen.model, prepared.loaded);
    const opened = await openSession(prepared, { flags, terminal });
    if ("exit" in opened) return opened.exit;
    const { session } = opened;
    if (prompt !== undefined) {
      const exit = concludeCassette(
        prepared.cassette,
        await oneShot(prepared, { session, prompt, images, format, flags, terminal }),
      );
      if (terminal.showProgress) await prepared.tendSessions();
      return exit;
    }
    if (format !== "text" || flags.has("json-events")) throw new UsageError("Give a prompt, or pipe one in.");
    const exit = await converse(prepared, { session, images, flags, variables });
    if (exit === EXIT.answered) reason = "user";
    return concludeCassette(prepared.cassette, exit);
  } finally {
    await prepared.engine.close(reason);
  }
}

/** A prompt that is a command of the conversation is run, and never sent. */
async function slashCommand(
  flags: ParsedFlags,
  variables: Variables,
): Promise<((format: OutputFormat) => Promise<number>) | undefined> {
  const typed = flags.words.join(" ").trim();
  if (!typed.startsWith("/")) return undefined;
  const { readCommand, runOneCommand } = await import("../../clients/headless/one-command.js");
  const command = readCommand(typed);
  if (command === undefined) return undefined;
  return (format) =>
    inSession(flags, variables, async (place) => {
      const failed = await runOneCommand(command, { ...place, clock: nodeClock, format });
      return failed === undefined ? EXIT.answered : exitCodeOfFailure(failed);
    });
}

/** Opens the session that the flags name and does something else there than to run a prompt. */
export async function inSession(
  flags: ParsedFlags,
  variables: Variables,
  action: (place: {
    readonly client: EngineClient;
    readonly session: SessionId;
    readonly terminal: Terminal;
  }) => Promise<number>,
): Promise<number> {
  const terminal = processTerminal(variables, { verbose: flags.has("verbose") });
  const prepared = await prepare(flags, { rawTrace: false, variables, terminal });
  if ("exit" in prepared) return prepared.exit;
  try {
    const opened = await openSession(prepared, { flags, terminal });
    if ("exit" in opened) return opened.exit;
    const signals = stopOnSignals(() => void prepared.client.send("CancelTurn", {}, opened.session));
    const exit = await action({ client: prepared.client, session: opened.session, terminal });
    return signals.asked ? EXIT.cancelled : exit;
  } finally {
    await prepared.engine.close();
  }
}

interface Prepared {
  readonly engine: Engine;
  readonly client: EngineClient;
  readonly chosen: Chosen;
  readonly loaded: LoadedSettings;
  readonly cassette: RunCassette | undefined;
  /** The session to go on with. */
  readonly resume: SessionRecord | undefined;
  /** Messages of the engine go there from now on. */
  readonly onMessages: (show: (message: string) => void) => void;
  /** Tells what is about to expire. A fault in this is no fault of the run. */
  tendSessions(): Promise<void>;
  /** The last turns of the session that goes on, where somebody sees the estimate that is made of them. */
  recentTurns(): Promise<readonly TurnStats[]>;
}

async function prepare(
  flags: ParsedFlags,
  options: {
    readonly rawTrace: boolean;
    readonly variables: Variables;
    readonly terminal: Terminal;
    /** A person talks with the model, so a question waits as long as it takes. */
    readonly isConversation?: boolean;
  },
): Promise<Prepared | { readonly exit: number }> {
  const { variables, terminal } = options;
  refuseWideningFlags(variables, flags);
  const loaded = atTerminal(await loadSettings(flags, variables), options);
  const { settings, roots } = loaded;
  for (const warning of loaded.warnings) process.stderr.write(`oxbow: ${warning}\n`);
  const log = createLog({
    directory: resolve(roots.state, "log"),
    wall: Date.now,
    levels: settings.log.value,
    ...(flags.has("log-to-stderr") && { toStderr: (line: string) => void process.stderr.write(line) }),
  });
  const rawTrace = options.rawTrace ? (await import("../raw-trace.js")).openRawTrace(roots) : undefined;
  const root = await findRoot(resolve(flags.text("cwd") ?? process.cwd()));
  let show: (message: string) => void = (message) => void process.stderr.write(`oxbow: ${message}\n`);
  const notify = (message: string) => show(message);
  const onMessages: Prepared["onMessages"] = (other) => {
    show = other;
  };
  // Scripts read stderr too: a piece of news is no reason to break one.
  const hint = (message: string) => (terminal.showProgress ? notify(message) : log("info", "sessions", message));
  const content = await ProjectContent.enter({
    ...{ loaded, variables, root, notify },
    ...trustLook(terminal),
    skipUnapproved: flags.has("skip-unapproved"),
    allowProjectHooks: flags.has("allow-project-hooks"),
  });
  if ("failure" in content) {
    notify(content.failure.message);
    return { exit: exitCodeOfFailure(content.failure) };
  }
  const cassette = await cassetteOf(flags, { variables, root, state: roots.state });
  const registry = createModelRegistry({
    variables,
    roots,
    tables: { value: settings.providers.value, file: loaded.profilePath },
    local: localOptions(settings),
    ...cassette?.registry,
    ...(rawTrace && { trace: rawTrace.write }),
  });
  const sessions = new SessionStores({ settings, roots, variables, root, notify, hint });
  const resume = await sessionToResume(flags, sessions, root);
  const routes = new ModelRoutes({ loaded, registry, clock: nodeClock });
  const choice = namesModel(flags) ? modelChoice(settings) : (resume ?? cassette?.model ?? modelChoice(settings));
  const chosen = (await routes.choose(choice)) ?? (await chooseModel(registry, { choice, notify, terminal }));
  cassette?.begins(chosen.model);
  const { model } = chosen;
  const isReplay = flags.has("replay");
  const place = { root, loaded, content, registry, routes, model };
  const engine = createEngine({ place, variables, sessions, log, isReplay, notify, hint, flags });
  const identity = isAgent(variables) ? "agent" : "human";
  const client = connectInProcess(engine.host, { id: engine.newClientId(), identity, canAnswer: personPresent() });
  if (rawTrace !== undefined) process.stderr.write(`oxbow: raw model traffic goes to ${rawTrace.file}\n`);
  // When the first request is on its way.
  setTimeout(() => void keepHeapSmall(), SENT_MS).unref();
  setTimeout(() => void sweepUp(), SENT_MS).unref();
  const tendSessions = async () => {
    const { tendRetention } = await import("../../runtime/sessions/retention-notice.js");
    await tendRetention({ sessions, settings, roots, clock: engine.clock, notify }).catch((error) =>
      log("warn", "sessions", "what is about to expire could not be told", { error: String(error) }),
    );
  };
  const recentTurns = async () => {
    const store = resume && terminal.showProgress ? await sessions.open() : undefined;
    if (store === undefined || resume === undefined) return [];
    return (await import("../../sessions/recent-turns.js")).recentTurns(store, resume).catch(() => []);
  };
  return { engine, client, chosen, loaded, cassette, resume, onMessages, tendSessions, recentTurns };
}

/** A limit that the person has set holds all the same. */
function atTerminal(loaded: LoadedSettings, { isConversation }: { readonly isConversation?: boolean }): LoadedSettings {
  const { permission_timeout: timeout } = loaded.settings;
  if (!isConversation || timeout.origin !== "default") return loaded;
  return { ...loaded, settings: { ...loaded.settings, permission_timeout: { value: undefined, origin: "default" } } };
}

/** A session goes on with the model it had, unless another one was asked for here and now. */
function namesModel(flags: ParsedFlags): boolean {
  return flags.has("model") || flags.has("provider");
}

function modelChoice({ provider, model }: Settings) {
  return { provider: provider.value, model: model.value };
}

async function sessionToResume(
  flags: ParsedFlags,
  sessions: SessionStores,
  root: string,
): Promise<SessionRecord | undefined> {
  const named = flags.text("resume");
  if (named === undefined && !flags.has("continue")) return undefined;
  if (named !== undefined && flags.has("continue")) throw new UsageError("Use --continue or --resume, not both.");
  const store = await sessions.open();
  if (store === undefined) throw new UsageError("Sessions are not stored (--store none): there is nothing to resume.");
  const { findSession, latestSession } = await import("../../runtime/sessions/find-session.js");
  return named === undefined ? latestSession(store, root) : findSession(store, named);
}

/** A new session, or the stored one with its loose ends settled; an exit code when that was refused. */
async function openSession(
  { client, resume }: Prepared,
  { flags, terminal }: { readonly flags: ParsedFlags; readonly terminal: Terminal },
): Promise<{ readonly session: SessionId } | { readonly exit: number }> {
  const verdict = orphanVerdict(flags);
  const note = flags.text("orphan-note");
  let request: CommandPayloads["CreateSession"] = resume === undefined ? {} : { resume: resume.id };
  if (verdict !== undefined) request = { ...request, orphans: { verdict, ...(note !== undefined && { note }) } };
  const notify = (message: string) => void process.stderr.write(`oxbow: ${safeText(message)}\n`);
  const wait = new LeaseWait({ limitMs: waitLimit(flags), clock: nodeClock, notify });
  for (;;) {
    const reply = await client.send("CreateSession", request);
    if (reply.ok && reply.session !== undefined) return { session: reply.session };
    if (reply.ok) throw new Error("the session could not be opened");
    const { failure } = reply;
    if (await wait.again(failure)) continue;
    if (failure.reason !== "OrphanedCalls" || terminal.askLine === undefined) {
      notify(failure.message);
      return { exit: exitCodeOfFailure(failure) };
    }
    const { askAboutOrphans } = await import("../../clients/headless/orphan-prompt.js");
    request = { ...request, orphans: await askAboutOrphans(terminal, failure) };
  }
}

function orphanVerdict(flags: ParsedFlags): OrphanVerdict | undefined {
  const asked = flags.text("orphan");
  if (asked === undefined || asked === "failed" || asked === "succeeded" || asked === "abort") return asked;
  throw new UsageError(`--orphan: expected failed, succeeded or abort, got "${asked}".`);
}

async function findRoot(folder: string): Promise<string> {
  try {
    return await openRoot(folder);
  } catch (error) {
    if (error instanceof WorkspaceError) throw new UsageError(error.message);
    throw error;
  }
}

async function oneShot(
  { engine, client, chosen, recentTurns }: Prepared,
  options: {
    session: SessionId;
    prompt: string;
    images: readonly ImageBlock[];
    format: OutputFormat;
    flags: ParsedFlags;
    terminal: Terminal;
  },
): Promise<number> {
  const { session, prompt, images, format, flags, terminal } = options;
  stopOnSignals(() => void client.send("CancelTurn", {}, session));
  if (terminal.showProgress && chosen.note !== undefined) terminal.err.write(`oxbow: ${chosen.note}\n`);
  const result = await runOneShot({
    client,
    session,
    prompt,
    images,
    format,
    recordsAfter: flags.has("json-events"),
    verbose: flags.has("verbose"),
    terminal,
    clock: engine.clock,
    estimateMs: estimateFrom(await recentTurns()),
    isReaderGone: () => outputGuard().failed,
  });
  if ("ended" in result) return exitCodeOf(result.ended);
  process.stderr.write(`oxbow: ${result.refused.message}\n`);
  return exitCodeOfFailure(result.refused);
}

async function converse(
  prepared: Prepared,
  options: { session: SessionId; images: readonly ImageBlock[]; flags: ParsedFlags; variables: Variables },
): Promise<number> {
  const { session, images, flags, variables } = options;
  if (await useTerminalClient(flags, variables)) return converseOnScreen(prepared, options);
  const { engine, client, chosen, resume, tendSessions, recentTurns } = prepared;
  const [{ runRepl }, { LineReader }, { clientAction }] = await Promise.all([
    import("../../clients/headless/repl.js"),
    import("../line-reader.js"),
    import("../client-actions.js"),
  ]);
  const lines = new LineReader(engine.clock);
  const terminal = processTerminal(variables, { lines, verbose: flags.has("verbose") });
  const { model } = chosen;
  const again = resume === undefined ? "" : `\nGoing on with ${resume.id}: ${resume.title ?? "(no title)"}`;
  const greeting = `oxbow · ${model.provider}:${model.model} · /help for commands, Ctrl-D to leave${chosen.note === undefined ? "" : `\n${chosen.note}`}${again}`;
  if (terminal.showProgress) await tendSessions();
  const recent = await recentTurns();
  const verbose = flags.has("verbose");
  const leaving = new AbortController();
  const stop = stopOnSignals(
    () => {
      leaving.abort();
      lines.close();
    },
    { interrupts: "elsewhere" },
  );
  const input = process.stdin.isTTY ? "person" : "script";
  const conversation = { client, session, terminal, lines, clock: engine.clock, verbose, greeting, recent, images };
  const problem = await runRepl({ ...conversation, clientAction, input, leaving: leaving.signal });
  lines.close();
  if (stop.asked) return EXIT.cancelled;
  return input === "person" || problem === undefined ? EXIT.answered : exitCodeOfProblem(problem);
}

async function useTerminalClient(flags: ParsedFlags, variables: Variables): Promise<boolean> {
  if (flags.has("plain") || flags.list("image").length > 0) return false;
  const { terminalFits } = await import("../../clients/tui/terminal/abilities.js");
  return terminalFits(variables, { input: process.stdin, output: process.stdout });
}

async function converseOnScreen(
  { client, chosen, resume, loaded, onMessages, recentTurns }: Prepared,
  { session, flags, variables }: { session: SessionId; flags: ParsedFlags; variables: Variables },
): Promise<number> {
  const { converseInTerminal } = await import("../tui/converse.js");
  const leaving = new AbortController();
  const stop = stopOnSignals(() => leaving.abort(), { interrupts: "elsewhere" });
  const { model, note } = chosen;
  const name = `${model.provider}:${model.model}`;
  const greeting: Block[] = [{ kind: "notice", level: "info", text: `oxbow · ${name}` }];
  if (note !== undefined) greeting.push({ kind: "notice", level: "info", text: note });
  await converseInTerminal({
    client,
    session,
    variables,
    model: name,
    ...(resume?.title !== undefined && { title: resume.title }),
    recent: await recentTurns(),
    greeting,
    resumed: resume !== undefined,
    showCost: !flags.has("quiet-cost"),
    spinner: loaded.settings.spinner.value,
    theme: loaded.settings.theme.value,
    screenReader: loaded.settings.screen_reader.value,
    leaving: leaving.signal,
    onMessages,
  });
  return stop.asked ? EXIT.cancelled : EXIT.answered;
}

/** A person saw what failed; of a script, the exit code tells. */
function exitCodeOfProblem(problem: Problem): number {
  if (problem.kind === "shell") return EXIT.failed;
  return problem.kind === "turn" ? exitCodeOf(problem.ended) : exitCodeOfFailure(problem.failure);
}

async function imagesOf(flags: ParsedFlags): Promise<readonly ImageBlock[]> {
  const files = flags.list("image");
  return files.length === 0 ? [] : (await import("../input-images.js")).readImages(files);
}

/** Servers that are slow to say whether they are there do not keep the screen empty. */
async function chooseModel(
  registry: ModelRegistry,
  { choice, notify, terminal }: { choice: ModelChoice; notify: (message: string) => void; terminal: Terminal },
): Promise<Chosen> {
  const person = personPresent() ? { ask: askOnce, notify } : undefined;
  if (!terminal.showProgress) return registry.choose(choice, person);
  const { LookingLine } = await import("../looking-line.js");
  const write = (text: string) => void process.stderr.write(text);
  const line = new LookingLine("oxbow · looking for models …", { write, clock: nodeClock });
  const heard = person && {
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
    return await registry.choose(choice, heard);
  } finally {
    line.end();
  }
}

function outputFormat(flags: ParsedFlags): OutputFormat {
  const asked = flags.text("output-format");
  if (asked !== undefined && !(OUTPUT_FORMATS as readonly string[]).includes(asked)) {
    throw new UsageError(`--output-format: expected ${OUTPUT_FORMATS.join(", ")}, got "${asked}".`);
  }
  const format = (asked ?? (flags.has("stream-events") ? "stream-json" : "text")) as OutputFormat;
  if (flags.has("stream-events") && format !== "stream-json") {
    throw new UsageError("--stream-events and --output-format say different things: use one of them.");
  }
  if (flags.has("json-events") && format === "stream-json") {
    throw new UsageError(
      "--json-events prints the events after the answer, stream-json prints them live: use one of them.",
    );
  }
  return format;
}

async function sweepUp(): Promise<void> {
  const { sweepTemporaryEntries } = await import("../../system/temporary-entries.js");
  await sweepTemporaryEntries();
}

/**
 * The part of V8's heap that new objects go to stays as small as it began, where it would grow to many megabytes; and what runs now and
 * then is interpreted, where a first compiler would make a megabyte of code of it. What is hot is compiled all the same. Memory is also
 * time: every page is copied into the page table of each process that is started from here.
 */
async function keepHeapSmall(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--no-sparkplug");
}
