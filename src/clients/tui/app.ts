/**
 * The terminal client: takes keys and events, passes them to the reducers, carries out their effects, and paints.
 *
 * 1. It sees the engine only through the protocol.
 * 2. Finished output is printed once. Only the live region is painted again, at most thirty times a second and only after a change.
 * 3. When nothing runs there is no timer.
 */
import { readStatusLine, STATUS_PARTS } from "../../base/status-parts.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import type { PlanAnswer } from "../sdk/plan-choices.js";
import type { Dialog } from "./dialogs/dialog.js";
import { OpenDialog } from "./dialogs/open-dialog.js";
import { QuestionPrompt } from "./dialogs/question-prompt.js";
import { prepareAfterPaint } from "./effects/after-first-paint.js";
import { Carrier } from "./effects/carrier.js";
import { carryOutHere, ringAfterTurn } from "./effects/here.js";
import { Composer } from "./input/composer.js";
import { type Bindings, USUAL_KEYS } from "./keys/bindings.js";
import type { TuiEnd, TuiOptions } from "./options.js";
import { Pace } from "./pace.js";
import { afterKey, expire, hinted, nextChange } from "./reduce/expire.js";
import { reduceEvent } from "./reduce/reduce-event.js";
import { type KeyPlace, reduceKey } from "./reduce/reduce-key.js";
import { reducePast } from "./reduce/reduce-past.js";
import { reduceSubmit } from "./reduce/reduce-submit.js";
import { Screen } from "./screen.js";
import {
  type DialogName,
  type Effect,
  firstState,
  isBusy,
  type Reduced,
  type State,
  stateOfOther,
  without,
} from "./state.js";
import type { Key, TerminalInput } from "./terminal/terminal.js";
import { TranscriptWriter } from "./transcript-writer.js";

/** The time in which Ctrl-C leaves at once after `/exit` or Ctrl-D during a turn. */
const CONFIRM_MS = 5000;

export async function runTui(options: TuiOptions): Promise<TuiEnd> {
  return new TuiApp(options).run();
}

export class TuiApp {
  readonly #options: TuiOptions;
  readonly #composer: Composer;
  readonly #carrier: Carrier;
  readonly #transcript: TranscriptWriter;
  readonly #pace: Pace;
  readonly #screen: Screen;
  readonly #keys: Bindings;
  readonly #questions: QuestionPrompt;
  #state: State;
  #dialog: OpenDialog | undefined;
  #begun = false;
  /** The event that printed blocks belong to now. */
  #lastEvent = 0;
  #end: () => void = () => {};

  constructor(options: TuiOptions) {
    this.#options = options;
    const { client, clock } = options;
    this.#screen = new Screen({ ...options, onStatus: () => this.#pace.changed("event") });
    this.#keys = options.keys ?? USUAL_KEYS;
    this.#state = firstState({ ...options, client: client.id, hidesCost: !options.showCost });
    this.#transcript = new TranscriptWriter({
      look: () => this.#screen.look(),
      remember: (block) => this.#carrier.remembered.add(block, this.#lastEvent),
    });
    this.#pace = new Pace({
      clock,
      paint: () => this.#paint(),
      nextChange: () => nextChange(this.#state, { now: clock.now(), still: options.still }),
    });
    this.#composer = new Composer({
      clock,
      ...options.composer,
      onSubmit: (submission, when) => {
        this.#questions.onSent();
        this.#apply(reduceSubmit(this.#state, { ...submission, when }, clock.now()));
      },
      onChange: () => this.#pace.changed("key"),
      onNotice: (text) => this.#hint(text),
      placeholder: `Ask for something, or type / for commands, @ for files, ${this.#keys.nameOf("help") ?? "/keys"} for keys`,
    });
    this.#questions = new QuestionPrompt({
      answer: (question, answer) => this.#carrier.answer(question, answer),
      review: (question) => this.#carrier.watch(this.#carrier.reviewQuestion(question, this.#questions)),
      answerPlan: (answer) => this.#answerPlan(answer),
      type: (key) => this.#composer.onKey(key),
      answerToken: (token, answer) => answer === "refuse" && this.#carrier.refuseToken(token),
      copyCode: (token) => this.#carrier.copyCode(token),
      tools: () => this.#screen.tools,
    });
    this.#carrier = new Carrier({
      client,
      clock,
      keys: this.#keys,
      state: () => this.#state,
      update: (change) => this.#set(change(this.#state)),
      apply: (reduced) => this.#apply(reduced),
      print: (block) => this.#transcript.print(block),
      open: (dialog, then) => this.#open(dialog, then),
      restart: (session, model) => this.#restart(session, model),
      theme: () => this.#screen.theme,
      setTheme: (name) => this.#setTheme(name),
      themes: options.themes ?? [],
      useSetting: (name, value) => this.#useSetting(name, value),
      hint: (text) => this.#hint(text),
      columns: () => this.#screen.size.columns,
      copy: (text) => options.terminal.copy(text),
      exit: () => void this.#exit(),
      clientAction: options.clientAction,
      ...(options.login && { login: options.login }),
      ...(options.files && { files: options.files }),
      ...(options.shell && { shell: options.shell }),
      ...(options.saveSettings && { saveSettings: options.saveSettings }),
      ...(options.doctor && { doctor: options.doctor }),
      ...(options.openPage && { openPage: options.openPage }),
    });
  }

  async run(): Promise<TuiEnd> {
    const { client, terminal, leaving, greeting } = this.#options;
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const stopInput = terminal.onInput((input) => this.#onInput(input));
    const stopEvents = client.subscribe((event) => this.#onEvent(event));
    leaving?.addEventListener("abort", () => this.#leave());
    this.#options.onMessages?.((text) => {
      this.#transcript.print({ kind: "notice", level: "info", text });
      this.#carrier.carryOut({ do: "refresh" });
    });
    for (const block of greeting) this.#transcript.print(block);
    this.#pace.now();
    this.#options.onDrawn?.();
    if (this.#options.resumed) {
      this.#begun = true;
      await this.#carrier.showAgain(this.#state.session);
      // A turn that runs now is not an interrupted one.
      this.#begun = this.#state.turn !== undefined;
    }
    this.#carrier.watch(this.#begin(this.#options.opens));
    prepareAfterPaint(this.#options, {
      composer: this.#composer,
      screen: this.#screen,
      hint: (text) => this.#hint(text),
      setTheme: (name) => this.#setTheme(name),
    });
    await ended;
    stopInput();
    stopEvents();
    this.#pace.stop();
    this.#transcript.endAnswer();
    if (isBusy(this.#state) && (await this.#options.keepsTurn?.()) !== true) {
      void client.send("CancelTurn", {}, this.#state.session);
    }
    await terminal.close(this.#transcript.take().printed);
    await this.#options.composer?.drafts?.flush(() => this.#composer.draft);
    return { session: this.#state.session, begun: this.#begun, state: this.#state };
  }

  async #begin(opens: DialogName | undefined): Promise<void> {
    if (opens === undefined && !this.#options.resumed) return this.#carrier.welcome();
    await this.#carrier.refresh();
    if (opens !== undefined) await this.#carrier.openDialog(opens);
  }

  #onInput(input: TerminalInput): void {
    switch (input.kind) {
      case "key":
        this.#onKey(input);
        return;
      case "paste":
        if (this.#dialog !== undefined) this.#dialog.onPaste(input.text);
        else if (!this.#questions.onPaste(input.text)) this.#composer.onPaste(input.text);
        this.#pace.changed("key");
        return;
      case "resize":
      case "resumed":
        this.#dialog?.repaint();
        this.#pace.now();
        return;
      case "closed":
        this.#leave();
    }
  }

  #onKey(key: Key): void {
    const now = this.#options.clock.now();
    if (this.#dialog !== undefined) {
      this.#dialog.onKey(key);
      this.#pace.changed("key");
      return;
    }
    const draftIsEmpty = this.#composer.isEmpty;
    if (this.#questions.onKey(key, { now, turnRuns: this.#state.turn !== undefined })) {
      this.#pace.changed("key");
      return;
    }
    const isForDraft = this.#composer.isOpen || (key.id === "escape" && this.#composer.takesEscape);
    if (isForDraft && this.#composer.onKey(key)) return;
    const known = this.#keys.translate(key);
    if (known !== undefined) this.#onKnownKey(known, { now, draftIsEmpty });
  }

  #onKnownKey(key: Key, place: KeyPlace): void {
    this.#state = afterKey(expire(this.#state, place.now), key.id);
    const taken = reduceKey(this.#state, key.id, place);
    if (taken !== undefined) this.#apply(taken);
    else if (key.id === "alt+enter" && this.#state.turn !== undefined) this.#composer.submit("later");
    // A Tab that completes nothing queues, as in other clients.
    else if (!this.#composer.onKey(key) && key.id === "tab" && this.#state.turn) this.#composer.submit("later");
  }

  #onEvent(event: Envelope): void {
    if (event.session !== this.#state.session) return;
    // An engine that was started again knows this client under another id.
    const { id } = this.#options.client;
    if (this.#state.client !== id) this.#state = { ...this.#state, client: id };
    this.#lastEvent = event.id;
    this.#carrier.remembered.see(event.id);
    if (event.kind === "TurnStarted") {
      this.#begun = true;
      void this.#screen.loadTools();
    }
    // The user saw the end of an interrupted earlier turn when the session opened.
    if (!this.#begun && (event.kind === "TurnEnded" || event.kind === "ToolResult")) return;
    const isDelta = event.kind === "TextDelta" || event.kind === "ThinkingDelta" || event.kind === "ToolCallProgress";
    const { clock } = this.#options;
    const isPast = event.id <= this.#carrier.remembered.pastUntil;
    const reduced = isPast ? reducePast(this.#state, event, clock) : reduceEvent(this.#state, event, clock.now());
    this.#state = reduced.state;
    for (const effect of reduced.effects) this.#carryOut(effect);
    if (!isPast) ringAfterTurn(event.kind, reduced.effects, this.#options);
    this.#showQuestions();
    this.#pace.changed(isDelta ? "stream" : "event");
  }

  #answerPlan(answer: PlanAnswer): void {
    if (answer.kind === "keep planning") {
      const { message: text } = answer;
      const submitted = { sent: { kind: "prompt", text }, text, images: [], when: "now" } as const;
      this.#apply(reduceSubmit(this.#state, submitted, this.#options.clock.now()));
      return;
    }
    this.#set(without(this.#state, "plan"));
    if (answer.kind === "cancel") return;
    const mode = answer.kind === "carry out" ? {} : { mode: "review" as const };
    this.#carrier.carryOut({ do: "send", kind: "ExitPlanMode", payload: { approve: true, ...mode } });
  }

  #showQuestions(): void {
    this.#dialog?.endIfOver();
    this.#questions.show(this.#state, { now: this.#options.clock.now(), draftIsEmpty: this.#composer.isEmpty });
  }

  #apply({ state, effects }: Reduced): void {
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
    this.#pace.changed("key");
  }

  #set(state: State): void {
    this.#state = state;
    this.#pace.changed("event");
  }

  #carryOut(effect: Effect): void {
    const rest = carryOutHere(effect, {
      transcript: this.#transcript,
      composer: this.#composer,
      terminal: this.#options.terminal,
      alerts: this.#options.alerts,
      leave: () => void this.#exit(),
    });
    if (rest !== undefined) this.#carrier.carryOut(rest);
  }

  #open<S, R>(dialog: Dialog<S, R>, then: (result: R) => void): void {
    this.#dialog = new OpenDialog(dialog, {
      size: () => (dialog.fullScreen ? this.#screen.size : this.#screen.dialogSize),
      theme: () => this.#screen.theme,
      fullScreen: () => this.#options.terminal.openFullScreen(),
      done: (result) => {
        this.#dialog = undefined;
        then(result as R);
        this.#pace.changed("key");
      },
    });
    this.#pace.changed("key");
  }

  #restart(session: SessionId, model: string): void {
    const { recent } = this.#options;
    this.#state = stateOfOther(this.#state, { session, model, ...(recent && { recent }) });
    this.#begun = true;
    this.#lastEvent = 0;
    this.#carrier.remembered.restart();
    this.#options.onSession?.(session);
  }

  #setTheme(name: string): void {
    this.#screen.theme = this.#options.themes?.find((theme) => theme.name === name)?.theme ?? this.#screen.theme;
    this.#pace.changed("key");
  }

  #useSetting(name: string, value: string): void {
    if (name === "status_line") {
      const line = readStatusLine(value);
      this.#screen.useStatusLine("unknown" in line ? STATUS_PARTS : line);
    }
    if (name === "theme") this.#setTheme(value);
    if (name === "vim") this.#composer.useVim(value === "true");
    this.#pace.changed("key");
  }

  #hint(text: string): void {
    this.#set(hinted(this.#state, text, this.#options.clock.now()));
  }

  /** A turn that would end with this client is not cancelled by the way: leaving takes a second step. */
  async #exit(): Promise<void> {
    const { turn, leaveUntil } = this.#state;
    if (turn === undefined || leaveUntil !== undefined || (await this.#options.keepsTurn?.()) === true) {
      this.#leave();
      return;
    }
    const until = this.#options.clock.now() + CONFIRM_MS;
    const hint = { text: "A turn runs, and leaving cancels it. Press Ctrl-C to leave.", until };
    this.#set({ ...this.#state, leaveUntil: until, hint });
  }

  #leave(): void {
    this.#pace.stop();
    this.#end();
  }

  #paint(): void {
    this.#state = expire(this.#state, this.#options.clock.now());
    this.#showQuestions();
    if (this.#dialog?.isFullScreen) {
      this.#dialog.repaint();
      return;
    }
    const { theme, dialogSize } = this.#screen;
    this.#screen.paint({
      state: this.#state,
      dialog: this.#dialog?.view() ?? this.#questions.view(dialogSize, theme),
      dialogHasFocus: this.#dialog !== undefined || this.#questions.hasFocus,
      composer: this.#composer,
      transcript: this.#transcript,
    });
  }
}
