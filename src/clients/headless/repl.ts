/**
 * The plain line client: a prompt, streamed answers, slash commands, `!command`. It only needs lines from the terminal, so it also
 * works over a serial line, in an editor's shell buffer and in a pipe.
 */

import { chosenBy } from "../../base/chosen-settings.js";
import { hintOf } from "../../base/input-hint.js";
import { runOwnCommand, typedText } from "../../base/own-shell.js";
import { firstLine } from "../../base/pasted-text.js";
import { paint } from "../../base/terminal-style.js";
import { safeText } from "../../base/terminal-text.js";
import { isBinaryText } from "../../base/text-or-binary.js";
import { readTypedInput, type TypedInput } from "../../base/typed-input.js";
import type { CommandReply } from "../../protocol/client.js";
import type { CommandPayloads } from "../../protocol/commands.js";
import { type MediaBlock, text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { CallId, SessionId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import { readSlashAnswer, type SlashAnswer, type SlashLine, slashRequest } from "../../protocol/slash-command.js";
import { endsWithPlan } from "../sdk/plan-choices.js";
import { DraftLine } from "./draft-line.js";
import { takeDuringTurn } from "./during-turn.js";
import { answerQuestion } from "./permission-prompt.js";
import { askPlan } from "./plan-prompt.js";
import type { Problem, ReplOptions, TypedLine } from "./repl-options.js";
import { sendAnswer } from "./send-answer.js";
import { Spinner } from "./spinner.js";
import { TextView } from "./text-view.js";
import { TurnCount } from "./turn-count.js";
import { TurnReport } from "./turn-report.js";

export type { LineSource, Problem, ReplOptions, TypedLine } from "./repl-options.js";

/** Reports the first problem, so that a failing script is noticed. */
export function runRepl(options: ReplOptions): Promise<Problem | undefined> {
  return new Repl(options).run();
}

class Repl {
  readonly #options: ReplOptions;
  readonly #draft: DraftLine;
  readonly #spinner: Spinner;
  readonly #view: TextView;
  readonly #report: TurnReport;
  readonly #media: MediaBlock[];
  /** Commands of `!` with their output, which go to the model with the next prompt. */
  readonly #context: string[] = [];
  #session: SessionId | undefined;
  /** A turn has begun in this program. */
  #begun = false;
  readonly #count = new TurnCount((message) => this.#say(message));
  #question = new AbortController();
  #asked: CallId | undefined;
  /** Questions without an answer. */
  readonly #unanswered = new Set<CallId>();
  /** The questions so far: a person answers them one after the other. */
  #asking: Promise<void> = Promise.resolve();
  /** A turn ended with a plan, and no one has decided about it. */
  #hasPlan = false;
  #planQuestion = new AbortController();
  #problem: Problem | undefined;
  #leave: () => void = () => {};
  /** The person left during a turn that continues. */
  readonly #left = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });

  constructor(options: ReplOptions) {
    this.#draft = new DraftLine(options.terminal);
    const { terminal } = this.#draft;
    this.#options = { ...options, terminal };
    this.#report = new TurnReport(options.clock, { recent: options.recent, hidesCost: terminal.hidesCost });
    this.#media = [...(options.media ?? [])];
    this.#spinner = new Spinner(terminal, options.clock);
    this.#view = new TextView(terminal, this.#spinner, { verbose: options.verbose });
  }

  async run(): Promise<Problem | undefined> {
    const { client, terminal, lines } = this.#options;
    this.#session = this.#options.session;
    const stopEvents = client.subscribe((event) => {
      this.#begun ||= event.kind === "TurnStarted";
      if (event.session === this.#session && !this.#isOld(event)) this.#onEvent(event);
    });
    const { leaving, greeting, stopAtProblem } = this.#options;
    leaving?.addEventListener("abort", () => void this.#cancelOnLeaving());
    if (greeting !== "") terminal.err.write(`${greeting}\n`);
    this.#hasPlan = terminal.askLine !== undefined && (await this.#planWaits());
    for (;;) {
      while (this.#hasPlan) await this.#decide();
      const line = await lines.next("> ");
      if (line === undefined || leaving?.aborted) break;
      const input = line.text.trim();
      if (input === "") continue;
      if (this.#options.input === "script" && isBinaryText(line.text)) {
        this.#complain({ ok: false, failure: failure("InvalidInput", { detail: "Standard input is binary." }) });
        break;
      }
      if (line.isWords) await this.#turn(input);
      else if (!(await this.#take(input))) break;
      if (stopAtProblem && this.#problem !== undefined) break;
    }
    // A turn may go on without this client, or have ended with its engine.
    stopEvents();
    this.#spinner.stop();
    return this.#problem;
  }

  /** The end of an interrupted turn of an earlier run: it was reported when the session opened. */
  #isOld({ kind }: Envelope): boolean {
    return !this.#begun && (kind === "ToolResult" || kind === "TurnEnded");
  }

  #onEvent(event: Envelope): void {
    // Already answered, perhaps by another client.
    if (event.kind === "PermissionResolved") {
      this.#unanswered.delete(event.payload.call);
      if (event.payload.call === this.#asked) this.#question.abort();
    }
    if (event.kind === "TurnStarted" && event.originator !== this.#options.client.id) {
      this.#view.aside(`Another client: ${firstLine(safeText(typedText(event.payload.input)))}`);
    }
    this.#view.show(event);
    if (event.kind === "PermissionRequested") {
      const question = event.payload;
      this.#unanswered.add(question.call);
      this.#asking = this.#asking.catch(() => {}).then(() => this.#answer(question));
    }
    // A subagent that goes on working must not write over the question of another one.
    if (this.#unanswered.size > 0) this.#spinner.stop();
    this.#followPlan(event);
    if (event.kind === "TurnEnded") this.#reportEnd(event.payload);
    this.#count.follow(event);
    if (event.kind === "TurnStarted") {
      this.#report.begin();
      this.#spinner.begin("thinking", this.#report.estimateMs());
    }
  }

  /** A resumed session may have ended with a plan. */
  async #planWaits(): Promise<boolean> {
    const status = await this.#options.client.query("GetStatus", {}, this.#session);
    return status.ok && status.answer.plan_waits === true;
  }

  /** Another client may decide first. */
  #followPlan(event: Envelope): void {
    if (event.kind === "TurnEnded") this.#hasPlan = endsWithPlan(event.payload);
    const isDecided = event.kind === "TurnStarted" || (event.kind === "ModeChanged" && event.payload.mode !== "plan");
    if (!isDecided) return;
    this.#hasPlan = false;
    this.#planQuestion.abort();
  }

  async #decide(): Promise<void> {
    const { client, terminal, lines } = this.#options;
    if (terminal.askLine === undefined) {
      this.#hasPlan = false;
      return;
    }
    this.#planQuestion = new AbortController();
    const given = await askPlan(terminal, this.#planQuestion.signal);
    this.#hasPlan = false;
    if (given.kind === "line") lines.keep({ text: given.text });
    else if (given.kind === "keep planning") await this.#turn(given.message);
    else if (given.kind !== "cancel") {
      const mode = given.kind === "carry out" ? {} : { mode: "review" as const };
      await this.#begin(() => client.send("ExitPlanMode", { approve: true, ...mode }, this.#session));
    }
  }

  /** False when the client should end. */
  async #take(input: string): Promise<boolean> {
    const typed = readTypedInput(input);
    if (typed.kind === "prompt") await this.#turn(input);
    else if (typed.kind === "shell") await this.#shell(typed);
    else return this.#slash(typed);
    return true;
  }

  async #slash({ name, rest }: SlashLine): Promise<boolean> {
    const { clientAction, login, doctor } = this.#options;
    switch (clientAction(name)) {
      case "exit":
        return false;
      case "cancel":
        this.#say("Nothing runs.");
        return true;
      case "queue":
        if (rest !== "") await this.#turn(rest);
        return true;
      case "clear":
        if (await this.#open(this.#session === undefined ? {} : { after: this.#session }))
          this.#say("New, empty conversation. Your settings stay.");
        return true;
      case "doctor":
        if (doctor === undefined) await this.#command(name, rest);
        else this.#options.terminal.out.write(`${await doctor()}\n`);
        return true;
      case "login":
        await (login?.(rest.trim()) ?? this.#command(name, rest));
        return true;
      default:
        await this.#command(name, rest);
        return true;
    }
  }

  /** Continues with another session. */
  async #open(wanted: CommandPayloads["CreateSession"]): Promise<boolean> {
    const reply = await this.#options.client.send("CreateSession", wanted);
    this.#complain(reply);
    if (!reply.ok) return false;
    this.#session = reply.session;
    if (reply.session !== undefined) this.#options.onSession?.(reply.session);
    return true;
  }

  async #cancelOnLeaving(): Promise<void> {
    const { client, keepsTurn } = this.#options;
    if ((await keepsTurn?.()) === true) this.#leave();
    else await client.send("CancelTurn", {}, this.#session);
  }

  async #shell({ command, share }: Extract<TypedInput, { readonly kind: "shell" }>): Promise<void> {
    const { client, terminal, lines, leaving, shell } = this.#options;
    const stop = new AbortController();
    const endIt = () => stop.abort();
    leaving?.addEventListener("abort", endIt);
    const release = lines.onInterrupt(endIt);
    let shown = "";
    const show = (text: string) => {
      shown = text || shown;
      terminal.out.write(safeText(text));
    };
    const wanted = { client, session: this.#session, command, signal: stop.signal, onOutput: show };
    const end = await runOwnCommand(shell, wanted).finally(() => {
      leaving?.removeEventListener("abort", endIt);
      release();
    });
    if ("failure" in end) {
      this.#complain({ ok: false, failure: end.failure });
      return;
    }
    if (shown !== "" && !shown.endsWith("\n")) show("\n");
    for (const note of end.notes) show(`${note}\n`);
    if (!end.isOk) this.#problem ??= { kind: "shell" };
    if (share) this.#context.push(end.forModel);
  }

  async #command(verb: string, args: string): Promise<void> {
    const idle = this.#count.nextIdle();
    this.#spinner.begin(`/${verb}`);
    const stopLines = this.#listen((line) => this.#options.lines.keep(line));
    const answer = await this.#interruptible(() => this.#ask(verb, args)).finally(() => {
      if (!this.#count.isRunning) this.#spinner.stop();
    });
    stopLines();
    if (answer?.text) this.#options.terminal.out.write(`${safeText(answer.text)}\n`);
    const chosen = answer && chosenBy(verb, args, answer.value);
    const saved = chosen && (await this.#options.saveSettings?.(chosen));
    if (saved !== undefined) this.#say(saved);
    if (answer?.isTurn) await this.#untilIdle(idle);
  }

  async #untilIdle(idle: Promise<void>): Promise<void> {
    const stopLines = this.#listen((line) => void this.#during(line));
    await this.#interruptible(() => Promise.race([idle, this.#left]));
    stopLines();
  }

  /** The command's answer, and whether it began a turn; undefined if it was refused and reported. */
  async #ask(verb: string, args: string): Promise<SlashAnswer | undefined> {
    const { isTerminal, columns } = this.#options.terminal.out;
    const screen = isTerminal && columns !== undefined ? { columns } : {};
    const reply = await this.#options.client.send("CustomCommand", slashRequest(verb, args, screen), this.#session);
    if (!reply.ok) {
      this.#complain(reply);
      return undefined;
    }
    const answer = readSlashAnswer(reply.value);
    const { exitCode, follow } = answer;
    if (follow !== undefined && !(await this.#open(follow))) return undefined;
    if (exitCode !== 0) this.#problem ??= { kind: "answer", exitCode };
    return answer;
  }

  async #turn(input: string): Promise<void> {
    // The prompt comes first: it names the session.
    const content = [...this.#media.splice(0), ...[input, ...this.#context.splice(0)].map((words) => text(words))];
    await this.#begin(() => this.#options.client.send("SendInput", { content }, this.#session));
  }

  /** Sends a command that begins a turn, and waits for its end. */
  async #begin(send: () => Promise<CommandReply>): Promise<void> {
    const idle = this.#count.nextIdle();
    this.#spinner.begin("thinking", this.#report.estimateMs());
    const reply = await send();
    if (!reply.ok || !isJsonObject(reply.value)) {
      this.#spinner.stop();
      this.#complain(reply);
      return;
    }
    this.#hint(reply);
    await this.#untilIdle(idle);
  }

  /** Takes lines during a turn, and keeps the draft visible. */
  #listen(action: (line: TypedLine) => void): () => void {
    const { lines, terminal } = this.#options;
    if (!terminal.err.isTerminal) return lines.onLine(action);
    const stop = lines.onLine(action, (text) => this.#draft.show(text));
    return () => {
      stop();
      this.#draft.show("");
    };
  }

  async #during(typed: TypedLine): Promise<void> {
    const { client, lines, clientAction, terminal } = this.#options;
    await takeDuringTurn(typed, {
      ...{ client, lines, clientAction, session: this.#session },
      echo: (line, what) => this.#view.aside(terminal.err.isTerminal ? `> ${firstLine(line)}  ${what}` : what),
      complain: (reply) => this.#complain(reply),
    });
  }

  #hint(reply: CommandReply): void {
    const hint = hintOf(reply);
    if (hint === undefined) return;
    const { terminal } = this.#options;
    if (terminal.showProgress) this.#say(safeText(hint));
    else terminal.err.write(`oxbow: ${safeText(hint)}\n`);
  }

  #reportEnd(result: EventPayloads["TurnEnded"]): void {
    const { terminal } = this.#options;
    this.#spinner.stop();
    if (result.outcome !== "answered") this.#problem ??= { kind: "turn", ended: result };
    const { problem, note, numbers } = this.#report.end(result);
    if (problem !== undefined) terminal.err.write(`oxbow: ${problem}\n`);
    if (note !== undefined) this.#say(note);
    if (terminal.showProgress) this.#say(numbers);
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
    if (!this.#unanswered.has(question.call)) return;
    this.#spinner.stop();
    this.#question = new AbortController();
    this.#asked = question.call;
    const { client, terminal } = this.#options;
    const given = await answerQuestion(terminal, question, this.#question.signal);
    const said = await sendAnswer(client, { session: this.#session, call: question.call }, given);
    for (const text of said) this.#view.aside(safeText(text));
  }

  #say(message: string): void {
    this.#options.terminal.err.write(`${paint(this.#options.terminal, "dim", message)}\n`);
  }

  #complain(reply: CommandReply): void {
    this.#spinner.hide();
    if (reply.ok) return;
    this.#problem ??= { kind: "command", failure: reply.failure };
    this.#options.terminal.err.write(`oxbow: ${safeText(reply.failure.message)}\n`);
  }
}
