/**
 * The plain line client: a prompt, streamed answers, slash commands, `!command`. It needs nothing of the terminal but lines,
 * so it also works over a serial line, in an editor's shell buffer and in a pipe.
 */
import type { Clock } from "../../base/clock.js";
import { safeText } from "../../base/terminal-text.js";
import { formatStats, StatsWindow, turnStats } from "../../base/turn-stats.js";
import type { CommandReply, EngineClient } from "../../protocol/client.js";
import { text } from "../../protocol/content.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import { askPermission } from "./permission-prompt.js";
import { Spinner } from "./spinner.js";
import { paint, type Terminal } from "./terminal.js";
import { TextView } from "./text-view.js";

export interface LineSource {
  /** The next line, undefined at the end of input. */
  next(prompt: string): Promise<string | undefined>;
  /** Ctrl-C while no line is being read. */
  onInterrupt(action: () => void): () => void;
}

export interface ReplOptions {
  readonly client: EngineClient;
  readonly terminal: Terminal;
  readonly lines: LineSource;
  readonly clock: Clock;
  readonly verbose: boolean;
  readonly greeting: string;
}

export async function runRepl(options: ReplOptions): Promise<void> {
  const repl = new Repl(options);
  await repl.run();
}

class Repl {
  readonly #options: ReplOptions;
  readonly #spinner: Spinner;
  readonly #view: TextView;
  readonly #stats = new StatsWindow();
  #session: SessionId | undefined;
  #turnEnded: ((ended: EventPayloads["TurnEnded"]) => void) | undefined;
  #questions = new AbortController();

  constructor(options: ReplOptions) {
    this.#options = options;
    this.#spinner = new Spinner(options.terminal, options.clock);
    this.#view = new TextView(options.terminal, this.#spinner, { verbose: options.verbose });
  }

  async run(): Promise<void> {
    const { client, terminal, lines } = this.#options;
    client.subscribe((event) => {
      if (event.session !== this.#session) return;
      this.#view.show(event);
      if (event.kind === "PermissionRequested") void this.#answer(event.payload);
      if (event.kind === "TurnEnded") this.#turnEnded?.(event.payload);
    });
    if (!(await this.#open())) return;
    terminal.err.write(`${this.#options.greeting}\n`);
    for (;;) {
      const line = await lines.next("> ");
      if (line === undefined) break;
      const input = line.trim();
      if (input === "") continue;
      if (!(await this.#take(input))) break;
    }
  }

  /** False when the client should end. */
  async #take(input: string): Promise<boolean> {
    if (input.startsWith("!")) {
      await this.#interruptible(() => this.#command("shell", input.slice(1).trim()));
      return true;
    }
    if (!input.startsWith("/")) {
      await this.#turn(input);
      return true;
    }
    const [, name = "", rest = ""] = /^\/(\S*)\s*(.*)$/s.exec(input) ?? [];
    if (name === "exit" || name === "quit" || name === "bye") return false;
    if (name === "clear") {
      if (await this.#open()) this.#say("A new, empty conversation.");
      return true;
    }
    await this.#command(name, rest);
    return true;
  }

  async #open(): Promise<boolean> {
    const reply = await this.#options.client.send("CreateSession", {});
    if (!reply.ok) {
      this.#complain(reply);
      return false;
    }
    this.#session = reply.session;
    return true;
  }

  async #command(verb: string, args: string): Promise<void> {
    const { client, terminal } = this.#options;
    const payload = { namespace: "slash", verb, payload: { args } };
    const reply = await client.send("CustomCommand", payload, this.#session);
    if (!reply.ok) this.#complain(reply);
    else if (isJsonObject(reply.value) && typeof reply.value.text === "string" && reply.value.text !== "") {
      terminal.out.write(`${safeText(reply.value.text)}\n`);
    }
  }

  async #turn(input: string): Promise<void> {
    const { client, clock, terminal } = this.#options;
    const from = clock.now();
    this.#questions = new AbortController();
    const ended = new Promise<EventPayloads["TurnEnded"]>((resolve) => {
      this.#turnEnded = resolve;
    });
    this.#spinner.start("thinking", this.#stats.estimateMs());
    const reply = await client.send("SendInput", { content: [text(input)] }, this.#session);
    if (!reply.ok) {
      this.#spinner.stop();
      this.#complain(reply);
      return;
    }
    const result = await this.#interruptible(() => ended);
    this.#questions.abort();
    this.#spinner.stop();
    if (result.failure !== undefined) terminal.err.write(`oxbow: ${safeText(result.failure.message)}\n`);
    else if (result.outcome === "cancelled") this.#say("Cancelled.");
    else if (result.truncated) this.#say("The answer was cut off at the model's output limit.");
    const stats = turnStats(result.usage, clock.now() - from);
    if (result.outcome === "answered") this.#stats.record(stats);
    if (terminal.showProgress) this.#say(formatStats(stats));
  }

  /** While `action` runs, Ctrl-C cancels it instead of ending the program. */
  async #interruptible<T>(action: () => Promise<T>): Promise<T> {
    const { client, lines } = this.#options;
    const stop = lines.onInterrupt(() => {
      void client.send("CancelTurn", {}, this.#session);
    });
    try {
      return await action();
    } finally {
      stop();
    }
  }

  async #answer(question: EventPayloads["PermissionRequested"]): Promise<void> {
    this.#spinner.stop();
    const decision = (await askPermission(this.#options.terminal, question, this.#questions.signal)) ?? "deny";
    await this.#options.client.send("AnswerPermission", { call: question.call, decision }, this.#session);
  }

  #say(message: string): void {
    this.#options.terminal.err.write(`${paint(this.#options.terminal, "dim", message)}\n`);
  }

  #complain(reply: CommandReply): void {
    if (!reply.ok) this.#options.terminal.err.write(`oxbow: ${safeText(reply.failure.message)}\n`);
  }
}
