/** `oxbow "prompt"`, `oxbow run`, `oxbow --run SCRIPT`, and the plain line client when there is no prompt. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { OUTPUT_FORMATS, type OutputFormat } from "../../clients/headless/one-shot.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import { helpLines, type ParsedFlags, parseFlags } from "../../feature/flags.js";
import type { EngineClient } from "../../protocol/client.js";
import type { MediaBlock } from "../../protocol/content.js";
import type { SessionEndReason } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { readSlashLine } from "../../protocol/slash-command.js";
import { isAgent, isInsideEngine } from "../../system/model-ancestors.js";
import { nodeClock } from "../../system/node-clock.js";
import type { Listening } from "../attach/listen.js";
import type { EngineWork } from "../attach/through-engine.js";
import { EXIT, exitCodeOf } from "../exit-codes.js";
import { FailedRun } from "../failed-run.js";
import { outputGuard } from "../output-guard.js";
import { printMessage } from "../print-message.js";
import { refuseTooLong, wholePrompt } from "../prompt-input.js";
import { converse, fitsTerminalClient } from "../run/converse.js";
import { oneShot } from "../run/one-shot.js";
import { openSession } from "../run/open-session.js";
import { type Prepared, prepare } from "../run/prepare.js";
import { stopOnSignals } from "../stop-signals.js";
import { personPresent, processTerminal } from "../terminal-io.js";
import { concludeCassette } from "./run-cassette-flags.js";
import { RUN_FLAGS } from "./run-flags.js";

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  return runPrompt(parseFlags(RUN_FLAGS, args, "run"), { variables, rawTrace: false });
}

export interface PromptOptions {
  readonly variables: Variables;
  readonly rawTrace: boolean;
  /** The conversation begins with the list of sessions. */
  readonly choosesSession?: boolean;
}

export async function runPrompt(flags: ParsedFlags, options: PromptOptions): Promise<number> {
  const { variables } = options;
  if (flags.has("help")) {
    process.stdout.write(
      `Usage: oxbow run [PROMPT] [flags]\n\nRuns one prompt to its end and prints the answer. Standard input is added to the prompt.\n\n${helpLines(RUN_FLAGS)}\n`,
    );
    return EXIT.answered;
  }
  const format = outputFormat(flags);
  if (flags.has("run")) return runScript(flags, options, format);
  if (flags.has("keep-going")) throw new UsageError("--keep-going needs --run SCRIPT.");
  const command = await slashCommand(flags, variables);
  if (command !== undefined) return command(format);
  const terminal = processTerminal(variables, lookOf(flags));
  const prompt = await wholePrompt(flags, terminal);
  const media = await mediaOf(flags);
  if (prompt === undefined && (format !== "text" || flags.has("json-events"))) {
    throw new UsageError("Give a prompt, or pipe one in.");
  }
  const isConversation = prompt === undefined && personPresent();
  const { choosesSession = false } = options;
  const work = { variables, terminal, format, media, prompt, choosesSession, isConversation };
  const exit = await runInEngine(flags, work);
  return exit ?? runHere(flags, { ...options, terminal, format, media, prompt, isConversation });
}

/** Several inputs in one session, each to its end; the first one that is not answered is the last. */
export async function runInputs(
  flags: ParsedFlags,
  inputs: readonly { readonly prompt: string; readonly media: readonly MediaBlock[] }[],
  variables: Variables,
): Promise<number> {
  const format = outputFormat(flags);
  const terminal = processTerminal(variables, lookOf(flags));
  const prepared = await prepare(flags, { rawTrace: false, variables, terminal });
  try {
    const session = await openHere(prepared, { flags, terminal });
    let exit: number = EXIT.answered;
    for (const { prompt, media } of inputs) {
      exit = await oneShot(prepared, { session, prompt, media, format, flags, terminal });
      if (exit !== EXIT.answered) break;
    }
    return concludeCassette(prepared.cassette, exit);
  } finally {
    await prepared.engine.close();
  }
}

interface HereOptions extends PromptOptions {
  readonly terminal: Terminal;
  readonly format: OutputFormat;
  readonly media: readonly MediaBlock[];
  readonly prompt: string | undefined;
  readonly isConversation: boolean;
}

const NO_WEB_HERE =
  "This conversation runs in its own process, so --web shows nothing of it. 'oxbow web' shows those of the engine.";

/** The engine is in this process. */
async function runHere(flags: ParsedFlags, options: HereOptions): Promise<number> {
  const { variables, terminal, format, media, prompt, isConversation } = options;
  if (flags.has("web")) printMessage(NO_WEB_HERE);
  const asksLater = isConversation && (await fitsTerminalClient({ flags, media, variables }));
  const prepared = await prepare(flags, { ...options, terminal, isConversation, asksLater });
  let listening: Promise<Listening> | undefined;
  let reason: SessionEndReason = "binary-shutdown";
  try {
    await refuseTooLong(prompt, prepared.chosen.model, prepared.loaded);
    const session = await openHere(prepared, { flags, terminal });
    if (prompt !== undefined) {
      const exit = concludeCassette(
        prepared.cassette,
        await oneShot(prepared, { session, prompt, media, format, flags, terminal }),
      );
      return exit;
    }
    const { choosesSession = false } = options;
    const exit = await converse(prepared, {
      ...{ session, media, flags, variables, choosesSession },
      ...(flags.has("listen") && {
        onDrawn: () => {
          listening ??= listenHere(prepared, { flags, variables });
        },
      }),
    });
    if (exit === EXIT.answered) reason = "user";
    return concludeCassette(prepared.cassette, exit);
  } finally {
    await prepared.engine.close(reason);
    await (await listening)?.close();
  }
}

/** A new session, or the resumed one, of an engine in this process. */
async function openHere(
  { client, root, resume }: Prepared,
  how: { readonly flags: ParsedFlags; readonly terminal: Terminal },
): Promise<SessionId> {
  const opened = await openSession(client, resume === undefined ? {} : { resume: resume.id, cwd: root }, how);
  if ("failure" in opened) throw new FailedRun(opened.failure);
  return opened.session;
}

/** `--listen`: other programs reach the conversation over a port. */
async function listenHere(
  { engine, client, loaded, log, notify }: Prepared,
  { flags, variables }: { readonly flags: ParsedFlags; readonly variables: Variables },
): Promise<Listening> {
  const { Listening } = await import("../attach/listen.js");
  const listen = flags.list("listen");
  const listening = new Listening({
    ...{ engine, client, roots: loaded.roots, variables, log, listen, notify },
    socket: false,
  });
  listening.begin();
  return listening;
}

async function runScript(flags: ParsedFlags, options: PromptOptions, format: OutputFormat): Promise<number> {
  const { readScript, runLines } = await import("../run/script.js");
  if (flags.words.length > 0) throw new UsageError("Give a prompt or --run SCRIPT, not both.");
  if (flags.has("attach")) throw new UsageError("--run SCRIPT starts its own engine: leave out --attach.");
  if (format !== "text" || flags.has("json-events")) throw new UsageError("--run prints text: give no output format.");
  const script = await readScript(flags.text("run") ?? "");
  const terminal = processTerminal(options.variables, lookOf(flags));
  const media = await mediaOf(flags);
  const prepared = await prepare(flags, { ...options, terminal });
  try {
    const session = await openHere(prepared, { flags, terminal });
    const stopAtProblem = !flags.has("keep-going");
    const verbose = flags.has("verbose");
    const { variables } = options;
    const exit = await runLines(script, { prepared, variables, session, media, terminal, stopAtProblem, verbose });
    return concludeCassette(prepared.cassette, exit);
  } finally {
    await prepared.engine.close();
  }
}

/** A slash command as a prompt runs; it is never sent to the model. Neither is a shell command (`!ls`), which is refused. */
/** Commands about what a session did: a new one did nothing. */
const LOOK_BACK: ReadonlySet<string> = new Set(["why", "cost", "diff", "undo", "export"]);

async function slashCommand(
  flags: ParsedFlags,
  variables: Variables,
): Promise<((format: OutputFormat) => Promise<number>) | undefined> {
  const typed = flags.words.join(" ").trim();
  if (/^!+[^!]/.test(typed)) {
    throw new UsageError(
      `'${typed}' is a shell command for a conversation, not a prompt. Run it in your shell, or put another word first to send it to the model.`,
    );
  }
  const command = readSlashLine(typed);
  if (command === undefined) return undefined;
  const { runOneCommand } = await import("../../clients/headless/one-command.js");
  return (format) =>
    inSession(flags, variables, async (place) => {
      const end = await runOneCommand(command, {
        ...place,
        clock: nodeClock,
        format,
        recordsAfter: flags.has("json-events"),
        verbose: flags.has("verbose"),
        isReaderGone: () => outputGuard().failed,
      });
      if ("ended" in end) return exitCodeOf(end.ended);
      if ("failure" in end) throw new FailedRun(end.failure);
      const isNew = !["continue", "resume", "attach"].some((flag) => flags.has(flag));
      if (isNew && format === "text" && LOOK_BACK.has(command.name)) {
        printMessage(
          `${typed} is about a new session here. For the last one of this folder: oxbow run --continue "${typed}"`,
        );
      }
      return end.exitCode;
    });
}

/** Opens the session that the flags name, for work other than a prompt. */
export async function inSession(
  flags: ParsedFlags,
  variables: Variables,
  action: (place: {
    readonly client: EngineClient;
    readonly session: SessionId;
    readonly terminal: Terminal;
  }) => Promise<number>,
): Promise<number> {
  const terminal = processTerminal(variables, lookOf(flags));
  if (flags.has("attach")) {
    const { inEngine } = await import("../attach/through-engine.js");
    return inEngine(flags, { variables, terminal }, (place) => action({ ...place, terminal }));
  }
  const prepared = await prepare(flags, { rawTrace: false, variables, terminal });
  try {
    const session = await openHere(prepared, { flags, terminal });
    const signals = stopOnSignals(() => void prepared.client.send("CancelTurn", {}, session));
    const exit = await action({ client: prepared.client, session, terminal });
    return signals.asked ? EXIT.cancelled : exit;
  } finally {
    await prepared.engine.close();
  }
}

async function mediaOf(flags: ParsedFlags): Promise<readonly MediaBlock[]> {
  const [images, audio] = [flags.list("image"), flags.list("audio")];
  return [
    ...(images.length === 0 ? [] : await (await import("../input-images.js")).readImages(images)),
    ...(audio.length === 0 ? [] : await (await import("../input-audio.js")).readAudio(audio)),
  ];
}

function lookOf(flags: ParsedFlags) {
  return { verbose: flags.has("verbose"), hidesCost: flags.has("quiet-cost"), streams: flags.has("stream") };
}

export function outputFormat(flags: ParsedFlags): OutputFormat {
  const asked = flags.text("output-format");
  if (asked !== undefined && !(OUTPUT_FORMATS as readonly string[]).includes(asked)) {
    throw new UsageError(`--output-format: expected ${OUTPUT_FORMATS.join(", ")}, got "${asked}".`);
  }
  const format = (asked ?? (flags.has("stream-events") ? "stream-json" : "text")) as OutputFormat;
  if (flags.has("stream-events") && format !== "stream-json") {
    throw new UsageError("--stream-events and --output-format contradict each other: use one of them.");
  }
  if (flags.has("json-events") && format === "stream-json") {
    throw new UsageError(
      "--json-events prints the events after the answer, stream-json prints them live: use one of them.",
    );
  }
  return format;
}

/** The exit code of a run through the engine; undefined if this process is to be the engine. */
export async function runInEngine(
  flags: ParsedFlags,
  work: EngineWork & { readonly isConversation: boolean },
): Promise<number | undefined> {
  const { variables, isConversation, prompt } = work;
  if (flags.has("listen") && flags.has("no-listen")) throw new UsageError("Use --listen or --no-listen, not both.");
  if (flags.has("listen") && !isConversation)
    throw new UsageError("--listen needs a conversation on a terminal. 'oxbow serve --listen' runs a service.");
  if (flags.has("web") && !isConversation)
    throw new UsageError("--web needs a conversation on a terminal. 'oxbow web' shows the web client alone.");
  if (flags.has("attach") && flags.has("no-attach")) throw new UsageError("Use --attach or --no-attach, not both.");
  if (prompt !== undefined && flags.has("attach")) {
    const { promptInEngine } = await import("../attach/through-engine.js");
    return promptInEngine(flags, { ...work, prompt });
  }
  const isOwn = flags.has("no-attach") || flags.has("listen") || isAgent(variables) || isInsideEngine(variables);
  if (!isConversation || (isOwn && !flags.has("attach"))) return undefined;
  const { conversationInEngine } = await import("../attach/through-engine.js");
  return conversationInEngine(flags, work);
}
