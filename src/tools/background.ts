/**
 * Commands that outlive the call that started them (`bash` with run_in_background), and the tool to read and end them.
 *
 * 1. They belong to the session, which calls `close` at its end to end them all.
 * 2. Each read returns the output since the last one; a file has all of it.
 */

import { onAbort } from "../base/abort-tree.js";
import { shorten } from "../base/cap-text.js";
import type { Clock } from "../base/clock.js";
import { formatDuration } from "../base/duration.js";
import type { Tool, ToolContext, ToolOutcome } from "../engine/ports.js";
import { ownText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { nodeClock } from "../system/node-clock.js";
import type { ProcessEnd, RunningProcess } from "../system/process-group.js";
import { CATALOG } from "./catalog.js";
import { failed } from "./file-tool.js";
import { OutputFile, type OutputPlace } from "./output-file.js";
import { describeExit } from "./shell/exit-text.js";
import { OutputWindow } from "./shell/output-window.js";

const MAX_RUNNING = 16;
/** Ended commands stay readable; beyond this number the oldest are dropped. */
const MAX_ENDED = 32;
const MAX_WAIT_SECONDS = 600;

interface BackgroundCommand {
  readonly id: string;
  readonly command: string;
  readonly process: RunningProcess;
  readonly window: OutputWindow;
  readonly file: OutputFile;
  readonly endNote: BackgroundStart["endNote"];
  readonly startedAt: number;
  endedAt?: number;
  end?: ProcessEnd;
}

export interface BackgroundStart {
  readonly command: string;
  readonly output: OutputPlace;
  readonly launch: (onOutput: (chunk: Buffer) => void) => Promise<RunningProcess>;
  /** Tells what the model should know when it has ended; given once. */
  readonly endNote?: () => Promise<string | undefined>;
}

/** Describes what a person sees of one. */
export interface BackgroundFacts {
  readonly id: string;
  readonly command: string;
  readonly running: boolean;
  /** Tells how long it has run, or how it ended. */
  readonly state: string;
}

export class BackgroundCommands {
  readonly #clock: Clock;
  readonly #onChange: (running: number) => void;
  readonly #commands = new Map<string, BackgroundCommand>();
  #count = 0;
  #closed = false;

  /** `onChange` gets how many run, after each start and end. */
  constructor(clock: Clock = nodeClock, onChange: (running: number) => void = () => {}) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get running(): number {
    return this.list().filter(({ end }) => end === undefined).length;
  }

  /** Starts a command and returns its id; throws when it cannot be started or too many run. */
  async start({ command, output, launch, endNote }: BackgroundStart): Promise<string> {
    if (this.#closed) throw new Error("The session is ending; no command can be started.");
    if (this.running >= MAX_RUNNING) {
      throw new Error(`${MAX_RUNNING} background commands are running already. Kill one first.`);
    }
    const window = new OutputWindow();
    const file = new OutputFile(output);
    const process = await launch((chunk) => {
      window.write(chunk);
      file.append(chunk);
    });
    this.#count += 1;
    const entry: BackgroundCommand = {
      id: `bg${this.#count}`,
      command,
      process,
      window,
      file,
      endNote,
      startedAt: this.#clock.now(),
    };
    this.#commands.set(entry.id, entry);
    this.#onChange(this.running);
    void process.ended.then((end) => {
      entry.end = end;
      entry.endedAt = this.#clock.now();
      file.close();
      this.#forgetOldest();
      // After the end of the session no one follows it.
      if (!this.#closed) this.#onChange(this.running);
    });
    if (this.#closed) await process.stop();
    return entry.id;
  }

  list(): readonly BackgroundCommand[] {
    return [...this.#commands.values()];
  }

  find(id: string): BackgroundCommand | undefined {
    return this.#commands.get(id);
  }

  runningFor(entry: BackgroundCommand): number {
    return (entry.endedAt ?? this.#clock.now()) - entry.startedAt;
  }

  /** Resolves at the command's end, after `ms`, or when the signal fires. */
  wait(entry: BackgroundCommand, { ms, signal }: { readonly ms: number; readonly signal: AbortSignal }): Promise<void> {
    return new Promise((resolve) => {
      const stopTimer = this.#clock.after(ms, done);
      let stopListening = () => {};
      function done() {
        stopTimer();
        stopListening();
        resolve();
      }
      stopListening = onAbort(signal, () => done());
      void entry.process.ended.then(done);
    });
  }

  facts(): readonly BackgroundFacts[] {
    return this.list().map((entry) => ({
      id: entry.id,
      command: firstLine(entry.command),
      running: entry.end === undefined,
      state: stateOf(this, entry),
    }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.list().map((entry) => entry.process.stop()));
  }

  #forgetOldest(): void {
    const ended = this.list().filter((entry) => entry.end !== undefined);
    for (const entry of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#commands.delete(entry.id);
  }
}

/** `ports`: those that listen in the session's network. */
export function createBackgroundTool(commands: BackgroundCommands, ports?: () => Promise<readonly number[]>): Tool {
  return {
    ...CATALOG.background,
    run: async (args, context) => {
      const outcome = await run(commands, args, context);
      const listening = commands.running > 0 && outcome.status === "ok" ? await ports?.() : undefined;
      if (listening === undefined || listening.length === 0) return outcome;
      const note = `[Listening here: ${listening.join(", ")}. The user reaches a port with /ports open ${listening[0]}.]`;
      return { ...outcome, content: [...outcome.content, ownText(note)] };
    },
  };
}

async function run(commands: BackgroundCommands, args: JsonObject, context: ToolContext): Promise<ToolOutcome> {
  const isListing = args.kill !== true && typeof args.wait !== "number";
  if ((args.id === undefined || args.id === "") && isListing) return listAll(commands);
  const entry = entryOf(commands, args);
  if (entry === undefined) {
    const ids = commands.list().map((known) => known.id);
    const known = `Known: ${ids.join(", ") || "none"}.`;
    const isNamed = args.id !== undefined && args.id !== "";
    const message = isNamed
      ? `There is no background command "${String(args.id)}". ${known}`
      : `Give the id of the command. ${known}`;
    return failed(message);
  }
  if (args.kill === true) await entry.process.stop();
  else if (typeof args.wait === "number" && args.wait > 0 && entry.end === undefined) {
    await commands.wait(entry, { ms: Math.min(args.wait, MAX_WAIT_SECONDS) * 1000, signal: context.signal });
  }
  if (context.signal.aborted)
    return { status: "cancelled", content: [ownText(`Cancelled; ${entry.id} keeps running.`)] };
  const bytes = entry.window.bytes;
  const shown = entry.window.text((line) => entry.file.describe(line));
  entry.window.clear();
  const note = entry.end === undefined ? undefined : await entry.endNote?.();
  return {
    status: "ok",
    content: [
      ...(bytes === 0 ? [ownText("(no new output)")] : shown.content),
      ownText([`[${stateOf(commands, entry)}]`, ...(note === undefined ? [] : [note])].join("\n")),
    ],
    details: { ...detailsOf(commands, entry), new_bytes: bytes, truncated: shown.cut },
  };
}

/** Without an id: the only command, or the only one that still runs. */
function entryOf(commands: BackgroundCommands, { id }: JsonObject): BackgroundCommand | undefined {
  if (id !== undefined && id !== "") return commands.find(String(id));
  const all = commands.list();
  const running = all.filter(({ end }) => end === undefined);
  const [first, ...others] = running.length > 0 ? running : all;
  return others.length === 0 ? first : undefined;
}

function listAll(commands: BackgroundCommands): ToolOutcome {
  const lines = commands.facts().map(({ id, state, command }) => `${id}: ${state}: ${command}`);
  return {
    status: "ok",
    content: [ownText(lines.join("\n") || "No background commands.")],
    details: { commands: commands.list().map((entry) => detailsOf(commands, entry)) },
  };
}

function stateOf(commands: BackgroundCommands, entry: BackgroundCommand): string {
  const time = formatDuration(commands.runningFor(entry));
  if (entry.end === undefined) return `running for ${time}`;
  return entry.end.reason === "cancelled" ? `killed after ${time}` : `ended after ${time}, ${describeExit(entry.end)}`;
}

function detailsOf(commands: BackgroundCommands, entry: BackgroundCommand): JsonObject {
  return {
    id: entry.id,
    command: entry.command,
    running: entry.end === undefined,
    exit_code: entry.end?.exitCode ?? null,
    signal: entry.end?.signal ?? null,
    duration_ms: Math.round(commands.runningFor(entry)),
    output_file: entry.file.path,
  };
}

function firstLine(command: string): string {
  const line = command.split("\n", 1)[0] ?? "";
  return shorten(line, 120);
}
