/** `oxbow "prompt"`, `oxbow run`, and the plain line client when there is no prompt. */
import { resolve } from "node:path";
import { OUTPUT_FORMATS, type OutputFormat, runOneShot } from "../../clients/headless/one-shot.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import { connectInProcess } from "../../control/transports/inproc.js";
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";
import { createLog } from "../../system/log.js";
import { WorkspaceError } from "../../tools/files/workspace-error.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { environment, type Variables } from "../env.js";
import { EXIT, exitCodeOf, exitCodeOfFailure } from "../exit-codes.js";
import { helpLines, type ParsedFlags, parseFlags, UsageError } from "../flags.js";
import { createEngine, type Engine } from "../harness.js";
import { type Chosen, createModelShelf } from "../model-shelf.js";
import { loadSettings } from "../settings.js";
import { inputIsConnected, personPresent, processTerminal, readInput } from "../terminal-io.js";
import { RUN_FLAGS } from "./run-flags.js";

export async function run(args: readonly string[]): Promise<number> {
  return runPrompt(parseFlags(RUN_FLAGS, args, "run"), { rawTrace: false });
}

export async function runPrompt(flags: ParsedFlags, options: { readonly rawTrace: boolean }): Promise<number> {
  if (flags.has("help")) {
    process.stdout.write(`Usage: oxbow run [PROMPT] [flags]\n\n${helpLines(RUN_FLAGS)}\n`);
    return EXIT.answered;
  }
  const variables = environment();
  const format = outputFormat(flags);
  const terminal = processTerminal(variables);
  const prompt = await wholePrompt(flags, terminal);
  const prepared = await prepare(flags, variables, options);
  try {
    if (prompt !== undefined) return await oneShot(prepared, { prompt, format, flags, terminal });
    if (format !== "text" || flags.has("json-events")) throw new UsageError("Give a prompt, or pipe one in.");
    return await converse(prepared, flags, variables);
  } finally {
    await prepared.engine.host.close();
  }
}

interface Prepared {
  readonly engine: Engine;
  readonly client: EngineClient;
  readonly chosen: Chosen;
}

async function prepare(
  flags: ParsedFlags,
  variables: Variables,
  options: { readonly rawTrace: boolean },
): Promise<Prepared> {
  const loaded = await loadSettings(flags, variables);
  const { settings, roots } = loaded;
  for (const warning of loaded.warnings) process.stderr.write(`oxbow: ${warning}\n`);
  const log = createLog({
    directory: resolve(roots.state, "log"),
    wall: Date.now,
    levels: settings.log.value,
    ...(flags.has("log-to-stderr") && { toStderr: (line: string) => void process.stderr.write(line) }),
  });
  const rawTrace = options.rawTrace ? (await import("../raw-trace.js")).openRawTrace(roots) : undefined;
  const shelf = createModelShelf({ variables, ...(rawTrace && { trace: rawTrace.write }) });
  const chosen = await shelf.choose({ provider: settings.provider.value, model: settings.model.value });
  const root = await findRoot(resolve(flags.text("cwd") ?? process.cwd()));
  const engine = createEngine({ loaded, variables, root, shelf, model: chosen.model, log });
  const client = connectInProcess(engine.host, { id: engine.newClientId(), canAnswer: personPresent() });
  if (rawTrace !== undefined) process.stderr.write(`oxbow: raw model traffic goes to ${rawTrace.file}\n`);
  return { engine, client, chosen };
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
  { engine, client, chosen }: Prepared,
  options: { prompt: string; format: OutputFormat; flags: ParsedFlags; terminal: Terminal },
): Promise<number> {
  const { prompt, format, flags, terminal } = options;
  const created = await client.send("CreateSession", {});
  if (!created.ok || created.session === undefined) throw new Error("the session could not be opened");
  const signals = cancelOnSignals(client, created.session);
  if (terminal.showProgress && chosen.note !== undefined) terminal.err.write(`oxbow: ${chosen.note}\n`);
  const result = await runOneShot({
    client,
    session: created.session,
    prompt,
    format,
    recordsAfter: flags.has("json-events"),
    verbose: flags.has("verbose"),
    terminal,
    clock: engine.clock,
    isReaderGone: () => signals.readerGone,
  });
  if ("ended" in result) return exitCodeOf(result.ended);
  process.stderr.write(`oxbow: ${result.refused.message}\n`);
  return exitCodeOfFailure(result.refused);
}

async function converse(
  { engine, client, chosen }: Prepared,
  flags: ParsedFlags,
  variables: Variables,
): Promise<number> {
  const [{ runRepl }, { LineReader }] = await Promise.all([
    import("../../clients/headless/repl.js"),
    import("../line-reader.js"),
  ]);
  const lines = new LineReader(engine.clock);
  const terminal = processTerminal(variables, lines);
  const { model } = chosen;
  const greeting = `oxbow · ${model.provider}:${model.model} · /help for commands, Ctrl-D to leave${chosen.note === undefined ? "" : `\n${chosen.note}`}`;
  await runRepl({ client, terminal, lines, clock: engine.clock, verbose: flags.has("verbose"), greeting });
  lines.close();
  return EXIT.answered;
}

/** Ctrl-C cancels cleanly; a second one does not wait. A reader that went away is a cancel nobody needs to hear about. */
function cancelOnSignals(client: EngineClient, session: SessionId) {
  let asked = false;
  const state = { readerGone: false };
  const cancel = () => {
    if (asked) process.exit(EXIT.cancelled);
    asked = true;
    void client.send("CancelTurn", {}, session);
  };
  const onPipe = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    state.readerGone = true;
    if (!asked) cancel();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, cancel);
  process.stdout.on("error", onPipe);
  process.stderr.on("error", () => {});
  return state;
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

/** Words of the command line and of standard input, as one prompt; undefined to open a conversation. */
async function wholePrompt(flags: ParsedFlags, terminal: Terminal): Promise<string | undefined> {
  const words = flags.words
    .filter((word) => word !== "-")
    .join(" ")
    .trim();
  const waitForInput = flags.words.includes("-");
  if (words === "" && !waitForInput && (process.stdin.isTTY || flags.has("plain"))) return undefined;
  if (!waitForInput && !inputIsConnected()) {
    if (words === "") throw new UsageError('Give a prompt: oxbow "PROMPT", or pipe one in.');
    return words;
  }
  const input = await readInput({ patient: words === "" || waitForInput });
  if (input === undefined)
    terminal.err.write("oxbow: nothing came on standard input, going on without it ('-' waits for it).\n");
  const parts = [words, input?.trim() ?? ""].filter((part) => part !== "");
  if (parts.length === 0) throw new UsageError("The prompt is empty.");
  return parts.join("\n\n");
}
