/** A conversation: in the terminal client, or line by line with a person or with piped input. */
import type { SaveSettings } from "../../base/chosen-settings.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { MediaBlock } from "../../protocol/content.js";
import type { SessionId } from "../../protocol/ids.js";
import type { LoadedSettings } from "../../runtime/settings/settings.js";
import { EXIT, exitCodeOfProblem } from "../exit-codes.js";
import { stopOnSignals } from "../stop-signals.js";
import { processTerminal } from "../terminal-io.js";
import type { Conversation } from "./prepare.js";

/** Describes what differs when other clients may be in the same session. */
export interface SharedConversation {
  /** Ends the conversation: the engine has ended, and the session waits for an answer. */
  readonly leave?: AbortSignal;
  /** Asked when the person leaves during a turn: true lets the turn continue for others. */
  readonly keepsTurn?: () => boolean | Promise<boolean>;
  /** The engine may be on another machine: the client runs no commands of the person. */
  readonly isElsewhere?: boolean;
  /** The person sees the prompt. */
  readonly onDrawn?: () => void;
  /** The conversation continues with another session. */
  readonly onSession?: (session: SessionId) => void;
}

interface ConverseOptions extends SharedConversation {
  readonly session: SessionId;
  readonly media: readonly MediaBlock[];
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly choosesSession: boolean;
}

export async function converse(prepared: Conversation, options: ConverseOptions): Promise<number> {
  if (!(await fitsTerminalClient(options))) {
    if (!options.choosesSession) return converseByLines(prepared, options);
    throw new UsageError("This terminal cannot show a list. Name the session: oxbow resume SESSION.");
  }
  const { converseOnScreen } = await import("./converse-on-screen.js");
  return converseOnScreen(prepared, options);
}

/** Tells whether a conversation opens in the terminal client. */
export async function fitsTerminalClient({
  flags,
  media,
  variables,
}: Pick<ConverseOptions, "flags" | "media" | "variables">): Promise<boolean> {
  if (flags.has("plain") || media.length > 0) return false;
  const { terminalFits } = await import("../../clients/tui/terminal/abilities.js");
  return terminalFits(variables, { input: process.stdin, output: process.stdout });
}

async function converseByLines(
  { client, clock, chosen, resume, recentTurns, loaded }: Conversation,
  options: ConverseOptions,
): Promise<number> {
  const { session, media, flags, variables, leave, keepsTurn, onDrawn, onSession } = options;
  const [{ runRepl }, { LineReader }, { clientAction }, { lineCompletion }, { ownShell }] = await Promise.all([
    import("../../clients/headless/repl.js"),
    import("../line-reader.js"),
    import("../client-actions.js"),
    import("./line-completion.js"),
    import("../own-shell.js"),
  ]);
  let current = session;
  const lines = new LineReader(clock, process.stdin.isTTY ? { complete: lineCompletion(client, () => current) } : {});
  const terminal = processTerminal(variables, {
    lines,
    verbose: flags.has("verbose"),
    hidesCost: flags.has("quiet-cost"),
  });
  const { model } = chosen;
  const again = resume === undefined ? "" : `\nResuming ${resume.id}: ${resume.title ?? "(no title)"}`;
  const greeting = `oxbow · ${model.provider}:${model.model} · /help for commands, Ctrl-D to leave${chosen.note === undefined ? "" : `\n${chosen.note}`}${again}`;
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
  leave?.addEventListener("abort", () => {
    leaving.abort();
    lines.close();
  });
  onDrawn?.();
  const input = process.stdin.isTTY ? "person" : "script";
  let begun = false;
  const stopEvents = client.subscribe((event) => {
    begun ||= event.kind === "TurnStarted" && event.session === current;
  });
  const conversation = { client, session, terminal, lines, clock, verbose, greeting, recent, media };
  const problem = await runRepl({
    ...{ ...conversation, clientAction, input, leaving: leaving.signal },
    ...(keepsTurn && { keepsTurn }),
    ...(input === "person" && { login: loginHere, saveSettings: savingIn(loaded) }),
    doctor: async () => (await import("../commands/doctor.js")).findingsText(variables),
    ...(options.isElsewhere !== true && { shell: ownShell(variables, loaded.settings.run_timeout) }),
    onSession: (other) => {
      current = other;
      onSession?.(other);
    },
  });
  stopEvents();
  lines.close();
  if (input === "person" && begun && !leave?.aborted) process.stderr.write(`\nResume: oxbow ${current}\n`);
  if (stop.asked) return EXIT.cancelled;
  return input === "person" || problem === undefined ? EXIT.answered : exitCodeOfProblem(problem);
}

/** Keeps what a person chooses in a conversation for new sessions. */
export function savingIn(loaded: LoadedSettings): SaveSettings {
  return async (settings) => (await import("../../runtime/settings/save-settings.js")).saveSettings(loaded, settings);
}

async function loginHere(provider: string): Promise<void> {
  const [{ terminalLogin }, { loginByLine }] = await Promise.all([
    import("../tui/login.js"),
    import("./line-login.js"),
  ]);
  // The line reader rests between two prompts, so the terminal is free.
  await loginByLine(terminalLogin({ lend: (work) => work() }), provider, (text) => {
    process.stderr.write(`${text}\n`);
  });
}
