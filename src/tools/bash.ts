/**
 * Shell commands.
 *
 * 1. A call resolves only when everything that the command started has ended. A background command ends with the session.
 * 2. Memory is bounded for any output; the model sees the beginning and the end, a file holds the whole output.
 */
import type { Clock } from "../base/clock.js";
import type { Tool, ToolContext, ToolOutcome } from "../engine/ports.js";
import { ownText } from "../protocol/content.js";
import type { ToolStatus } from "../protocol/events.js";
import type { JsonObject } from "../protocol/json.js";
import { findShell } from "../system/find-program.js";
import { nodeClock } from "../system/node-clock.js";
import type { ProcessEnd } from "../system/process-group.js";
import type { Launch, ProcessRequest } from "../system/process-launch.js";
import { trustedPath, withPath } from "../system/trusted-path.js";
import type { BackgroundCommands } from "./background.js";
import { CATALOG } from "./catalog.js";
import { childEnvironment, type EnvironmentPolicy, FILTERED } from "./child-environment.js";
import { OutputFile, type OutputPlace } from "./output-file.js";
import { exitNotes } from "./shell/exit-text.js";
import { LiveProgress } from "./shell/live-progress.js";
import { OutputWindow, WINDOW_BYTES } from "./shell/output-window.js";
import { namesSecrets, PatchFilter } from "./shell/withheld-patches.js";
import type {
  AddedEnvironment,
  SettledChanges,
  ShellCommand,
  WrapOptions,
  WrappedCommand,
} from "./shell/wrapped-command.js";

/** Loaded at the first command: starting processes loads half of Node's network code. */
const loadProcesses = () => import("../system/process-group.js");

const DEFAULT_TIMEOUT_MS = 300_000;
const MAX_TIMEOUT_SECONDS = 86_400;

interface ByPerson {
  /** The user typed the command. */
  readonly byPerson: boolean;
}

export interface BashOptions {
  /** The folder in which every command starts. */
  readonly workspaceRoot: string;
  /** The environment of this process; `childEnvironment` decides which variables a command gets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly environmentPolicy?: EnvironmentPolicy | undefined;
  readonly addedEnvironment?: AddedEnvironment;
  /** Of the person's terminal; absent: that of this process. */
  readonly umask?: number | undefined;
  /** Additional variables for commands. */
  readonly extraEnvironment?: Readonly<Record<string, string>>;
  /** Absolute folders beside the workspace that commands may write to. */
  readonly writableFolders?: readonly string[];
  /** The folder for outputs that are too long for the model. */
  readonly outputDirectory: string;
  /** Removes secrets from them. */
  readonly createRedactor?: OutputPlace["createRedactor"];
  readonly onOutputFile?: OutputPlace["onFile"];
  /** For a call without a timeout; `off`: no limit. */
  readonly defaultTimeoutMs?: number | "off";
  /** From SIGTERM to SIGKILL. */
  readonly graceMs?: number;
  readonly clock?: Clock;
  /** Wraps the command in a sandbox. */
  readonly wrapCommand?: (command: ShellCommand, options: WrapOptions) => Promise<WrappedCommand>;
  /** Without it, commands cannot run in the background. */
  readonly background?: BackgroundCommands;
}

export function createBashTool(options: BashOptions): Tool {
  const shell = new Shell(options);
  return {
    ...CATALOG.bash,
    run: (args, context) => shell.run(args, context),
  };
}

class Shell {
  readonly defaultTimeoutMs: number | undefined;
  readonly #options: BashOptions;
  readonly #clock: Clock;
  readonly #env: Readonly<Record<string, string>>;
  readonly #output: OutputPlace;
  #program: string | undefined;

  constructor(options: BashOptions) {
    this.#options = options;
    this.#clock = options.clock ?? nodeClock;
    const { outputDirectory: directory, createRedactor, onOutputFile: onFile } = options;
    this.#output = { directory, createRedactor, onFile };
    const { defaultTimeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.defaultTimeoutMs = defaultTimeoutMs === "off" ? undefined : defaultTimeoutMs;
    this.#env = this.#environmentWith({});
  }

  async run(args: JsonObject, context: ToolContext): Promise<ToolOutcome> {
    const { command } = args;
    if (typeof command !== "string" || command.trim() === "") return failure("There is no command to run.");
    if (command.includes("\0")) return failure("A command cannot hold a NUL character.");
    if (context.signal.aborted) return { status: "cancelled", content: [ownText("Cancelled before it started.")] };
    try {
      const onTerminal = args.pty === true;
      const outside = args.outside_sandbox === true;
      const { openings = [] } = context;
      const unasked = context.unasked === true;
      const added = await this.#options.addedEnvironment?.({ outside, unasked });
      const env = added === undefined ? this.#env : this.#environmentWith(added);
      const text = this.#withUmask(unasked ? this.#withTrustedPath(command, env) : command);
      const onOwnTerminal = onTerminal ? await terminal() : undefined;
      const byPerson = context.byPerson === true;
      const isBackground = args.run_in_background === true;
      const writes = unasked
        ? { writes: "nothing" as const }
        : isBackground
          ? { writes: "live" as const, folders: foldersOf(args) }
          : { writes: "held" as const };
      const asking = byPerson || unasked ? {} : { ask: context.ask };
      const options = { onTerminal, outside, openings, byPerson, env, line: command, ...writes, ...asking };
      const prepared = await this.#prepare(["-c", "--", text], options);
      const launch = onOwnTerminal ?? prepared.launch;
      return isBackground
        ? await this.#start(context, { command, args, prepared, launch })
        : await this.#runToEnd(context, { args, prepared, launch });
    } catch (error) {
      return failure((error as Error).message);
    }
  }

  #environmentWith(added: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
    const { environment, environmentPolicy = FILTERED, extraEnvironment, workspaceRoot } = this.#options;
    const all = {
      ...childEnvironment(environment, environmentPolicy),
      ...added,
      ...extraEnvironment,
      PWD: workspaceRoot,
    };
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  #withUmask(command: string): string {
    const { umask } = this.#options;
    return umask === undefined ? command : `umask ${umask.toString(8).padStart(3, "0")}; ${command}`;
  }

  #withTrustedPath(command: string, { PATH = "" }: Readonly<Record<string, string>>): string {
    const { workspaceRoot, writableFolders = [] } = this.#options;
    const trusted = trustedPath(PATH, { command, workspace: workspaceRoot, writable: writableFolders });
    return trusted === PATH ? command : withPath(command, trusted);
  }

  async #prepare(
    words: readonly string[],
    { env: all, ...options }: WrapOptions & ByPerson & { readonly env: Readonly<Record<string, string>> },
  ): Promise<WrappedCommand> {
    const { workspaceRoot, wrapCommand } = this.#options;
    const { OXBOW_AGENT: _, ...ofPerson } = all;
    const env = options.byPerson ? ofPerson : all;
    const plain: ShellCommand = {
      argv: [this.#shell(), ...words],
      cwd: workspaceRoot,
      env: options.onTerminal && env.TERM === "dumb" ? { ...env, TERM: "xterm-256color" } : env,
    };
    return wrapCommand === undefined ? plain : await wrapCommand(plain, options);
  }

  #shell(): string {
    this.#program ??= findShell(this.#env.PATH, { outside: this.#options.workspaceRoot });
    return this.#program;
  }

  async #runToEnd(context: ToolContext, { args, prepared, launch }: Prepared): Promise<ToolOutcome> {
    const window = new OutputWindow();
    const file = new OutputFile(this.#output);
    const live = new LiveProgress((piece) => context.progress(piece), this.#clock);
    const startedAt = this.#clock.now();
    const timeoutMs = timeoutOf(args) ?? this.defaultTimeoutMs;
    const { pipeNote, watchPipes } = await import("./shell/pipe-note.js");
    const root = this.#options.workspaceRoot;
    const stopped = new AbortController();
    let waits: string | undefined;
    const onFound = (why: string) => {
      waits = why;
      stopped.abort();
    };
    const pipes = watchPipes(args.command, { root, onFound });
    const output = withoutSecretPatches(args, context, (chunk) => {
      pipes?.heard();
      const whole = file.started ? undefined : window.whole();
      if (whole !== undefined && whole.length + chunk.length > WINDOW_BYTES) file.append(whole);
      if (file.started) file.append(chunk);
      window.write(chunk);
      live.write(chunk);
    });
    const request: ProcessRequest = {
      ...this.#request(prepared),
      ...(timeoutMs !== undefined && { timeoutMs }),
      signal: pipes === undefined ? context.signal : AbortSignal.any([context.signal, stopped.signal]),
      onOutput: output.write,
    };
    let outcome: ToolOutcome;
    let settled: SettledChanges | undefined;
    try {
      const { runProcess } = await loadProcesses();
      prepared.started?.(context.granted ?? []);
      const end = await runProcess(request, launch);
      output.end();
      const pipe = end.reason === "timeout" ? await pipeNote(args.command, root) : undefined;
      const explain = (output: string) => pipe ?? prepared.explain?.(output);
      const durationMs = this.#clock.now() - startedAt;
      settled = await prepared.settle?.(end, context);
      outcome = waits === undefined ? report(end, { window, file, durationMs, explain, settled }) : failure(waits);
    } finally {
      pipes?.stop();
      live.stop();
      file.close();
      await prepared.ended?.();
    }
    const notes = [...(settled?.notes ?? []), prepared.leftBehind?.() ?? ""].filter((note) => note !== "");
    return notes.length === 0 ? outcome : { ...outcome, content: [...outcome.content, ownText(notes.join("\n"))] };
  }

  async #start(context: ToolContext, { command, args, prepared, launch }: Started): Promise<ToolOutcome> {
    const { background } = this.#options;
    if (background === undefined) return failure("Commands cannot be run in the background here.");
    const timeoutMs = timeoutOf(args);
    const { startProcess } = await loadProcesses();
    let ended: Promise<void> | undefined;
    const id = await background.start({
      command,
      output: this.#output,
      endNote: async () => {
        await ended;
        return prepared.leftBehind?.();
      },
      launch: async (onOutput) => {
        const shown = withoutSecretPatches(args, context, onOutput);
        const request = {
          ...{ ...this.#request(prepared), onOutput: shown.write },
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        };
        prepared.started?.(context.granted ?? []);
        const started = await startProcess(request, launch);
        // First of all listeners: a reader of the end sees the last output.
        void started.ended.finally(shown.end).catch(() => {});
        ended = started.ended.then(() => prepared.ended?.()).catch(() => {});
        return started;
      },
    });
    const note = `Started in the background as ${id}. Read its output or kill it with the tool background.`;
    const notes = [note, ...(prepared.startNote === undefined ? [] : [prepared.startNote])];
    return { status: "ok", content: [ownText(notes.join("\n"))], details: { background_id: id } };
  }

  #request(command: WrappedCommand): Omit<ProcessRequest, "onOutput"> {
    const { argv, cwd, env, withheld, isWrapper, endsWithAll } = command;
    const { graceMs } = this.#options;
    return {
      argv,
      cwd,
      env,
      clock: this.#clock,
      withheld,
      ...{ isWrapper, endsWithAll },
      ...(graceMs !== undefined && { graceMs }),
    };
  }
}

interface Prepared {
  readonly args: JsonObject;
  readonly prepared: WrappedCommand;
  readonly launch: Launch | undefined;
}

interface Started extends Prepared {
  readonly command: string;
}

/**
 * The output of a command that names git, without the patches of files that hold secrets. A command that names such a file was
 * asked about, and the user's own commands show everything.
 */
function withoutSecretPatches(
  { command }: JsonObject,
  { byPerson, openings }: ToolContext,
  write: (chunk: Buffer) => void,
): { write(chunk: Buffer): void; end(): void } {
  const words = typeof command === "string" ? command.split(/[\s"'();|&<>]+/) : [];
  const isFree = byPerson === true || openings?.includes("secrets") || namesSecrets(words);
  if (isFree || !words.some((word) => /(^|\/)git$/.test(word))) return { write, end: () => {} };
  const filter = new PatchFilter(words);
  // One character per byte, so that a piece may end inside a character.
  const pass = (text: string) => (text === "" ? undefined : write(Buffer.from(text, "latin1")));
  return { write: (chunk) => pass(filter.push(chunk.toString("latin1"))), end: () => pass(filter.end()) };
}

function report(
  end: ProcessEnd,
  {
    window,
    file,
    durationMs,
    explain,
    settled,
  }: {
    readonly window: OutputWindow;
    readonly file: OutputFile;
    readonly durationMs: number;
    readonly explain: (output: string) => string | undefined;
    readonly settled: SettledChanges | undefined;
  },
): ToolOutcome {
  const shown = window.text((line) => {
    const whole = window.whole();
    if (!file.started && whole !== undefined) file.append(whole);
    return file.describe(line);
  });
  const hint = statusOf(end) === "ok" ? undefined : explain(shown.text);
  const notes = [...exitNotes(end, { durationMs }), ...(hint === undefined ? [] : [hint])];
  const content = [...shown.content, ...(notes.length === 0 ? [] : [ownText(notes.join("\n"))])];
  return {
    status: settled?.failed ? "error" : statusOf(end),
    content: content.length === 0 ? [ownText("(no output)")] : content,
    details: {
      exit_code: end.exitCode ?? null,
      signal: end.signal ?? null,
      duration_ms: Math.round(durationMs),
      truncated: shown.cut,
      output_file: file.started ? file.path : null,
      ...(end.leftovers > 0 ? { killed_processes: end.leftovers } : {}),
      ...(settled !== undefined && settled.changed.length > 0 && { changed: settled.changed }),
    },
  };
}

function statusOf(end: ProcessEnd): ToolStatus {
  if (end.reason === "exit") return end.exitCode === 0 ? "ok" : "error";
  return end.reason;
}

function timeoutOf(args: JsonObject): number | undefined {
  const { timeout } = args;
  if (typeof timeout !== "number" || !(timeout > 0)) return undefined;
  return Math.min(timeout, MAX_TIMEOUT_SECONDS) * 1000;
}

function foldersOf({ writable }: JsonObject): readonly string[] {
  return Array.isArray(writable) ? writable.filter((each) => typeof each === "string") : [];
}

async function terminal(): Promise<Launch> {
  const { findTerminal } = await import("../system/pseudo-terminal.js");
  const launch = await findTerminal();
  if (launch === undefined) {
    throw new Error("No terminal is available: install the package @lydell/node-pty, or run without pty.");
  }
  return launch;
}

function failure(message: string): ToolOutcome {
  return { status: "error", content: [ownText(message)] };
}
