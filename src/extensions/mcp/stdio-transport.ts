/**
 * The transport to a server that Oxbow starts: JSON-RPC over the standard input and output of a process group in the sandbox.
 *
 * 1. When it is closed, the server and everything that it started is dead: first its input ends, then it is asked, then killed.
 * 2. The client handles a notification a moment later than an answer. So what follows a notification waits for that moment: progress
 *    that came before a result is seen before it.
 * 3. It never throws for what the server does. `problem` says why it ended.
 */
import { PassThrough } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.js";
import { type RunningProcess, startProcess } from "../../system/process-group.js";
import { SpawnError } from "../../system/process-launch.js";
import type { ContainedCommand } from "../executable/containment.js";
import { MessageLines } from "./message-lines.js";

export interface ProcessTransportOptions {
  /** The command in its sandbox. */
  readonly command: ContainedCommand;
  readonly clock: Clock;
  /** Tells what the server says beside its messages. */
  readonly onLog: (text: string) => void;
}

/** Sets how long a server may take to end by itself when its input ends. */
const END_MS = 500;
/** A server that reads nothing must not fill the memory. */
const MOST_UNREAD = 32 * 1024 * 1024;

export class ProcessTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  /** By these two the client knows a server that it shares a machine with. */
  readonly stderr = null;
  pid: number | null = null;
  /** The reason why it ended; ends the sentence "The server …". */
  problem: string | undefined;

  readonly #options: ProcessTransportOptions;
  readonly #input = new PassThrough();
  #running: RunningProcess | undefined;
  #isClosing = false;
  readonly #waiting: JSONRPCMessage[] = [];
  #isPausing = false;
  #ended: Promise<void> | undefined;

  constructor(options: ProcessTransportOptions) {
    this.#options = options;
    this.#input.on("error", () => {});
  }

  async start(): Promise<void> {
    const { command, clock, onLog } = this.#options;
    const lines = new MessageLines({
      clock,
      onMessage: (message) => this.#take(message as JSONRPCMessage),
      onNoise: onLog,
      onFlood: (problem) => this.#giveUp(problem),
    });
    try {
      command.started?.([]);
      this.#running = await startProcess(
        {
          ...processPart(command),
          input: this.#input,
          clock,
          onOutput: (chunk) => lines.take(chunk),
          onErrorOutput: (chunk) => onLog(chunk.toString("utf8")),
        },
        command.launch,
      );
    } catch (error) {
      await this.#neverStarted();
      this.problem = error instanceof SpawnError ? `could not be started: ${error.message}` : (error as Error).message;
      throw new Error(this.problem);
    }
    this.pid = this.#running.pid;
    this.#ended = this.#running.ended.then(async ({ exitCode, signal }) => {
      this.problem ??= signal === undefined ? `exited with code ${exitCode ?? "unknown"}` : `was ended by ${signal}`;
      this.#input.destroy();
      await command.ended?.();
      this.onclose?.();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#input.destroyed || this.#isClosing) throw new Error(`The server ${this.problem ?? "has ended"}.`);
    if (this.#input.writableLength > MOST_UNREAD) {
      this.#giveUp("does not read its input");
      throw new Error("The server does not read its input.");
    }
    this.#input.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    if (this.#running === undefined) return this.#neverStarted();
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.problem ??= "was stopped";
      this.#input.end();
    }
    const { clock } = this.#options;
    let cancel = () => {};
    const late = new Promise<"late">((resolve) => {
      cancel = clock.after(END_MS, () => resolve("late"));
    });
    const first = await Promise.race([this.#running.ended, late]);
    cancel();
    if (first === "late") await this.#running.stop();
    await this.#ended;
  }

  #take(message: JSONRPCMessage): void {
    this.#waiting.push(message);
    if (!this.#isPausing) this.#deliver();
  }

  #deliver(): void {
    this.#isPausing = false;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.onmessage?.(next);
      if ("id" in next) continue;
      this.#isPausing = true;
      setImmediate(() => this.#deliver());
      return;
    }
  }

  async #neverStarted(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    await this.#options.command.ended?.();
  }

  #giveUp(problem: string): void {
    this.problem ??= problem;
    this.#waiting.length = 0;
    this.onerror?.(new Error(`The server ${problem}.`));
    void this.#running?.stop();
  }
}

/** Tells what a process request takes of it. */
function processPart({ argv, cwd, env, withheld, isWrapper, endsWithAll }: ContainedCommand) {
  return {
    ...{ argv, cwd, env, withheld, isWrapper, endsWithAll },
  };
}
