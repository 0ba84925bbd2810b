/** Carries out effects that need the engine: inputs, commands, questions, pickers. */

import { chosenBy, type SaveSettings } from "../../../base/chosen-settings.js";
import type { ScreenAction } from "../../../base/client-action.js";
import type { Clock } from "../../../base/clock.js";
import { hintOf } from "../../../base/input-hint.js";
import { type OwnShell, runOwnCommand } from "../../../base/own-shell.js";
import type { CommandReply, EngineClient } from "../../../protocol/client.js";
import type { CommandKind, CommandPayloads } from "../../../protocol/commands.js";
import type { CallId, SessionId } from "../../../protocol/ids.js";
import { readSlashAnswer, slashRequest } from "../../../protocol/slash-command.js";
import type { PermissionAnswer, RulePlace } from "../../sdk/permission-choices.js";
import type { Block } from "../content/block.js";
import type { Dialog } from "../dialogs/dialog.js";
import type { TokenRequest } from "../dialogs/token-request.js";
import type { Bindings } from "../keys/bindings.js";
import type { ClientFiles } from "../options.js";
import { type DialogName, type Effect, type Question, type Reduced, type State, without } from "../state.js";
import type { Theme } from "../theme.js";
import { Remembered } from "../transcript/remembered.js";
import type { ClientNames } from "./client-names.js";
import type { Login } from "./login.js";
import type { QuestionAnswers } from "./review-question.js";
import type { WaitingNotices } from "./waiting-notices.js";

export interface CarrierOptions {
  readonly client: EngineClient;
  readonly clock: Clock;
  readonly keys: Bindings;
  readonly state: () => State;
  readonly update: (change: (state: State) => State) => void;
  readonly apply: (reduced: Reduced) => void;
  readonly print: (block: Block) => void;
  readonly open: <S, R>(dialog: Dialog<S, R>, then: (result: R) => void) => void;
  /** The client continues with another session. */
  readonly restart: (session: SessionId, model: string) => void;
  readonly theme: () => Theme;
  readonly setTheme: (name: string) => void;
  readonly themes: readonly { readonly name: string; readonly description: string; readonly theme: Theme }[];
  /** Uses the value of a setting of the terminal from now on, where that is possible. */
  readonly useSetting: (name: string, value: string) => void;
  readonly hint: (text: string) => void;
  /** The width of the screen, for tables. */
  readonly columns: () => number;
  /** Asks the terminal to copy a text to the clipboard; false if the terminal certainly cannot. */
  readonly copy: (text: string) => boolean;
  /** Which action of the client a command's name or alias means; undefined for a command of the engine. */
  readonly clientAction: (name: string) => ScreenAction | undefined;
  readonly exit: () => void;
  /** Absent if the program cannot sign in. */
  readonly login?: Login;
  /** Absent if the program cannot reach files. */
  readonly files?: ClientFiles;
  /** Absent if the client cannot run commands of the person. */
  readonly shell?: OwnShell;
  /** Absent if the program keeps no settings. */
  readonly saveSettings?: SaveSettings;
  /** Absent if the program cannot check itself. */
  readonly doctor?: () => Promise<string>;
  /** Opens an address in the person's browser; returns why it cannot. */
  readonly openPage?: (url: string) => Promise<string | undefined>;
}

export type EngineEffect = Extract<
  Effect,
  { readonly do: "send" | "command" | "shell" | "refresh" | "open" | "tell who" }
>;

/** The most events of a resumed session to show. */
const MOST_SHOWN_AGAIN = 5000;

export class Carrier {
  readonly #options: CarrierOptions;
  readonly remembered = new Remembered();
  #waitingNotices: Promise<WaitingNotices> | undefined;
  #names: Promise<ClientNames> | undefined;
  /** The client is going to another session. */
  #switching: Promise<unknown> | undefined;
  /** Ends the command of the person that runs. */
  #shellStop: AbortController | undefined;

  constructor(options: CarrierOptions) {
    this.#options = options;
  }

  carryOut(effect: EngineEffect): void {
    this.watch(this.#begin(effect));
  }

  /** An engine that fails to answer must not end the client, so the failure is shown. */
  watch(work: Promise<unknown>): void {
    const { print, update } = this.#options;
    work.catch((error: unknown) => {
      print({ kind: "notice", level: "error", text: error instanceof Error ? error.message : String(error) });
      update((now) => without(now, "command", "shell"));
    });
  }

  #begin(effect: EngineEffect): Promise<unknown> {
    switch (effect.do) {
      case "send":
        return this.send(effect.kind, effect.payload);
      case "command":
        return this.#command(effect);
      case "shell":
        return this.#shell(effect.command, effect.share);
      case "refresh":
        return this.refresh();
      case "open":
        return this.openDialog(effect.dialog);
      case "tell who":
        return this.#showSender(effect);
    }
  }

  /** The status, and what waits for approval. */
  async refresh(): Promise<void> {
    await this.#refreshStatus();
    this.#waitingNotices ??= import("./waiting-notices.js").then(({ WaitingNotices }) => new WaitingNotices());
    await (await this.#waitingNotices).show(this.#options);
  }

  async #refreshStatus(): Promise<void> {
    const { client, state, update } = this.#options;
    const { session } = state();
    const reply = await client.query("GetStatus", {}, session);
    if (!reply.ok) return;
    const { place, provider, model, title } = reply.answer;
    const found = { model: `${provider}:${model}`, ...(title !== undefined && { title }), ...(place && { place }) };
    update((now) => (now.session === session ? { ...now, ...found } : now));
  }

  answer(question: Question, { decision, message, always }: PermissionAnswer): void {
    const { call } = question;
    const sent = this.send("AnswerPermission", { call, decision, ...(message !== undefined && { message }) });
    this.watch(always ? sent.then(() => this.#keepRules(call, always)) : sent);
  }

  /** Says which rule was written, and where. */
  async #keepRules(call: CallId, place: RulePlace): Promise<void> {
    const reply = await this.slash("permissions", `promote ${call} ${place}`);
    if (!reply.ok) return this.#complain(reply);
    this.#options.print({ kind: "notice", level: "info", text: readSlashAnswer(reply.value).text });
  }

  /** Inputs wait for the work, so that they reach the session that the user has chosen. */
  switching(work: Promise<unknown>): void {
    this.#switching = work.catch(() => {});
    this.watch(work);
  }

  async send<K extends CommandKind>(kind: K, payload: CommandPayloads[K]): Promise<void> {
    const { client, state } = this.#options;
    if (kind === "CancelTurn" && this.stopShell()) return;
    if (kind === "SendInput") await this.#switching;
    const { session } = state();
    const reply = await client.send(kind, payload, session);
    if (reply.ok) {
      const hint = hintOf(reply);
      if (hint !== undefined) this.#options.print({ kind: "notice", level: "info", text: hint });
      return;
    }
    this.#complain(reply);
    if (kind === "SendInput") this.#takeBack(payload as CommandPayloads["SendInput"]);
    if (kind === "SetMode") await this.refresh();
  }

  /** Puts a refused input back into the draft, and what it took along back to the next one. No turn has begun. */
  #takeBack({ content }: CommandPayloads["SendInput"]): void {
    const { apply, state } = this.#options;
    const [typed = "", ...shared] = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const now = state();
    const left = now.turn?.id === undefined ? without(now, "turn") : now;
    apply({ state: { ...left, context: [...shared, ...left.context] }, effects: [{ do: "restore", text: typed }] });
  }

  #complain(reply: CommandReply): void {
    if (reply.ok) return;
    this.#options.print({ kind: "notice", level: "error", text: reply.failure.message });
    this.#options.update((now) => now);
  }

  async #command({ line, verb, args }: { readonly line: string; readonly verb: string; readonly args: string }) {
    const { update, print, saveSettings } = this.#options;
    const done = () => update((now) => without(now, "command"));
    const { runOwnCommand } = await import("./own-commands.js");
    const isOwn = await runOwnCommand({ verb, args }, this, this.#options);
    if (isOwn) {
      done();
      return;
    }
    const reply = await this.slash(verb, args);
    done();
    if (!reply.ok) {
      this.#complain(reply);
      return;
    }
    const { text: answered, value, follow } = readSlashAnswer(reply.value);
    const chosen = chosenBy(verb, args, value);
    const saved = chosen && (await saveSettings?.(chosen));
    const text = saved === undefined ? answered : `${answered} ${saved}`;
    const show = () => void (text !== "" && print({ kind: "command", line, text }));
    if (follow !== undefined) this.switching(this.#follow(follow, show));
    else show();
    await this.#switching;
    await this.refresh();
  }

  /** Continues with the session that a command returned. */
  async #follow(wanted: CommandPayloads["CreateSession"], show: () => void): Promise<void> {
    const { client, state, restart } = this.#options;
    const reply = await client.send("CreateSession", wanted);
    this.#complain(reply);
    if (!reply.ok || reply.session === undefined) return;
    restart(reply.session, state().model);
    show();
    if (reply.session === wanted.resume) await this.showAgain(reply.session);
  }

  /** A slash command that the engine runs. */
  slash(verb: string, args: string): Promise<CommandReply> {
    const { client, state, columns } = this.#options;
    return client.send("CustomCommand", slashRequest(verb, args, { columns: columns() }), state().session);
  }

  async #shell(command: string, share: boolean): Promise<void> {
    const { client, update, print, state, shell } = this.#options;
    const stop = new AbortController();
    this.#shellStop = stop;
    const end = await runOwnCommand(shell, {
      ...{ client, session: state().session, command, signal: stop.signal },
      onOutput: (text) => update((now) => withOutput(now, text)),
    }).finally(() => {
      this.#shellStop = undefined;
      update((now) => without(now, "shell"));
    });
    if ("failure" in end) {
      this.#complain({ ok: false, failure: end.failure });
      return;
    }
    const output = [end.output, ...end.notes].filter((line) => line !== "").join("\n") || "(no output)";
    print({
      kind: "shell",
      command,
      unshared: !share,
      output,
      ...(end.exitCode !== undefined && { exitCode: end.exitCode }),
    });
    update((now) => (share ? { ...now, context: [...now.context, end.forModel] } : now));
  }

  /** False if no command of the person runs. */
  stopShell(): boolean {
    this.#shellStop?.abort();
    return this.#shellStop !== undefined;
  }

  /** Shows what happened in a session so far. */
  async showAgain(session: SessionId): Promise<void> {
    const status = await this.#options.client.query("GetStatus", {}, session);
    const last = status.ok ? status.answer.last_event : 0;
    const after = Math.max(0, last - MOST_SHOWN_AGAIN);
    this.remembered.restart({ pastUntil: last });
    // Opening it attached this client at its end.
    await this.#options.client.send("DetachSession", {}, session);
    const before = await this.#options.client.query("ListEvents", { before: after + 1, limit: 1 }, session);
    const ts = before.ok ? before.answer.events.find(({ id }) => id === after)?.ts : undefined;
    const place = { after, ...(ts !== undefined && { after_ts: ts }) };
    const reply = await this.#options.client.send("AttachSession", place, session);
    this.#complain(reply);
  }

  copyCode({ code }: TokenRequest): void {
    const { copy, hint } = this.#options;
    hint(copy(code) ? "Asked the terminal to copy the code." : "This terminal cannot copy the code.");
  }

  refuseToken({ request }: TokenRequest): void {
    const refusal = { namespace: "tokens", verb: "refuse", payload: { request } };
    this.watch(this.send("CustomCommand", refusal));
  }

  async reviewQuestion(question: Question, questions: QuestionAnswers): Promise<void> {
    const { reviewQuestion } = await import("./review-question.js");
    await reviewQuestion(question, questions, this.#options);
  }

  /** Shows what waits in this folder, after the first paint. */
  async welcome(): Promise<void> {
    const before = this.#options.state();
    const { welcome } = await import("./welcome.js");
    await this.refresh();
    await welcome(this, this.#options, before);
  }

  async #showSender(effect: Extract<EngineEffect, { readonly do: "tell who" }>): Promise<void> {
    this.#names ??= import("./client-names.js").then(({ ClientNames }) => new ClientNames(this.#options));
    await (await this.#names).show(effect);
  }

  async openDialog(name: DialogName): Promise<void> {
    const { openNamed } = await import("./open-named.js");
    await openNamed(name, { ...this.#options, carrier: this });
  }
}

const SHELL_TAIL = 64 * 1024;

function withOutput(state: State, text: string): State {
  const { shell } = state;
  return shell === undefined
    ? state
    : { ...state, shell: { ...shell, output: (shell.output + text).slice(-SHELL_TAIL) } };
}
