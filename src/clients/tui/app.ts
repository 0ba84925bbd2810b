/**
 * The terminal client: takes keys and events, lets the reducers decide, carries out what they want, and paints.
 *
 * 1. It sees the engine only through the protocol.
 * 2. Finished output is printed once. Only the live region is painted again, at most thirty times a second and only after a change.
 * 3. When nothing runs there is no timer.
 */

import type { ClientAction } from "../../base/client-action.js";
import type { Clock } from "../../base/clock.js";
import type { TurnStats } from "../../base/turn-stats.js";
import type { EngineClient } from "../../protocol/client.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import { AnswerStream } from "./content/answer-stream.js";
import type { Block } from "./content/block.js";
import { renderBlock } from "./content/render-block.js";
import { Spacing } from "./content/spacing.js";
import { type ContentTools, loadContentTools, plainTools } from "./content/tools.js";
import type { Dialog, DialogView } from "./dialogs/dialog.js";
import { OpenDialog } from "./dialogs/open-dialog.js";
import { QuestionPrompt } from "./dialogs/question-prompt.js";
import { Carrier } from "./effects/carrier.js";
import type { Login } from "./effects/login.js";
import { Composer, type ComposerOptions } from "./input/composer.js";
import { reduceEvent } from "./reduce/reduce-event.js";
import { expire, reduceKey } from "./reduce/reduce-key.js";
import { reduceSubmit } from "./reduce/reduce-submit.js";
import { type Effect, firstState, isBusy, type Reduced, type State } from "./state.js";
import type { Key, TerminalInput, TuiTerminal } from "./terminal/terminal.js";
import type { Theme } from "./theme.js";
import { composeFrame } from "./views/frame.js";
import { queueLines } from "./views/queue.js";
import { statusLine } from "./views/status-line.js";
import { TICK_MS, workingLine } from "./views/working-line.js";

export interface TuiOptions {
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly terminal: TuiTerminal;
  readonly clock: Clock;
  readonly theme: Theme;
  /** `provider:model` */
  readonly model: string;
  readonly title?: string;
  readonly recent?: readonly TurnStats[];
  /** Printed before anything else. */
  readonly greeting: readonly Block[];
  readonly showCost: boolean;
  readonly verses: readonly string[];
  /** For screen readers: nothing moves by itself, and the bell says that a turn has ended. */
  readonly still: boolean;
  readonly composer?: Pick<ComposerOptions, "history" | "drafts" | "images" | "editText" | "completion">;
  /** Called with the other session, after `/clear` or a choice in the picker. */
  readonly onSession?: (session: SessionId) => void;
  /** Whether the background is light, as the terminal says after a moment. */
  readonly light?: () => Promise<boolean | undefined>;
  readonly themes?: readonly { readonly name: string; readonly description: string; readonly theme: Theme }[];
  readonly clientAction: (name: string) => ClientAction | undefined;
  /** The session was stored before: what happened in it is shown first. */
  readonly resumed?: boolean;
  /** Messages of the program go to the screen while the client is open. */
  readonly onMessages?: (show: (message: string) => void) => void;
  readonly leaving?: AbortSignal;
  readonly login?: Login;
}

export interface TuiEnd {
  /** The session at the end: another one after `/clear` or a choice in the picker. */
  readonly session: SessionId;
  /** Whether a turn was run in it. */
  readonly begun: boolean;
  readonly state: State;
}

const FRAME_MS = 33;
const COMPOSER_SHARE = 3;

export async function runTui(options: TuiOptions): Promise<TuiEnd> {
  return new TuiApp(options).run();
}

export class TuiApp {
  readonly #options: TuiOptions;
  readonly #composer: Composer;
  readonly #carrier: Carrier;
  readonly #answer = new AnswerStream();
  /** The answer so far, for the view of the whole conversation. */
  #said: string[] = [];
  readonly #spacing = new Spacing();
  readonly #questions: QuestionPrompt;
  #state: State;
  #theme: Theme;
  #tools: ContentTools = plainTools;
  #dialog: OpenDialog | undefined;
  /** Rows for the scrollback that no frame has taken along yet. */
  #printed: string[] = [];
  #paintedAt = Number.NEGATIVE_INFINITY;
  #stopPaint: (() => void) | undefined;
  #stopTick: (() => void) | undefined;
  #when: "now" | "later" = "now";
  #begun = false;
  #end: () => void = () => {};
  #ended = false;

  constructor(options: TuiOptions) {
    const { client, clock } = options;
    this.#options = options;
    this.#theme = options.theme;
    this.#state = firstState({ ...options, client: client.id });
    this.#composer = new Composer({
      clock,
      ...options.composer,
      onSubmit: (submission) => {
        const when = this.#when;
        this.#when = "now";
        this.#questions.onSent();
        this.#apply(reduceSubmit(this.#state, { ...submission, when }, clock.now()));
      },
      onChange: () => this.#changed("key"),
      onNotice: (text) => this.#hint(text),
      placeholder: "Ask for something, or type / for commands, @ for files, ? for keys",
    });
    this.#questions = new QuestionPrompt({
      clock,
      answer: (question, answer) => this.#carrier.answer(question, answer),
      review: (question) => void this.#carrier.reviewQuestion(question, this.#questions),
    });
    this.#carrier = new Carrier({
      client,
      clock,
      state: () => this.#state,
      update: (change) => this.#set(change(this.#state)),
      apply: (reduced) => this.#apply(reduced),
      print: (block) => this.#print(block),
      open: (dialog, then) => this.#open(dialog, then),
      restart: (session, model) => this.#restart(session, model),
      setTheme: (name) => this.#setTheme(name),
      themes: options.themes ?? [],
      hint: (text) => this.#hint(text),
      exit: () => this.#leave(),
      clientAction: options.clientAction,
      ...(options.login && { login: options.login }),
    });
  }

  async run(): Promise<TuiEnd> {
    const { client, terminal, leaving, clock, greeting } = this.#options;
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const stopInput = terminal.onInput((input) => this.#onInput(input));
    const stopEvents = client.subscribe((event) => this.#onEvent(event));
    leaving?.addEventListener("abort", () => this.#leave());
    this.#options.onMessages?.((text) => {
      this.#print({ kind: "notice", level: "info", text });
      this.#changed("event");
    });
    for (const block of greeting) this.#print(block);
    this.#paint();
    if (this.#options.resumed) {
      this.#begun = true;
      await this.#carrier.showAgain(this.#state.session);
      this.#begun = false;
    }
    if (this.#options.resumed) void this.#carrier.refresh();
    else void this.#carrier.welcome();
    void this.#restoreDraft();
    void this.#options.light?.().then((isLight) => {
      if (isLight && this.#theme === this.#options.theme && this.#theme.name === "dark") this.#setTheme("light");
    });
    void loadContentTools().then((tools) => {
      this.#tools = tools;
    });
    await ended;
    stopInput();
    stopEvents();
    this.#stopPaint?.();
    this.#stopTick?.();
    this.#flushAnswer();
    if (isBusy(this.#state)) void client.send("CancelTurn", {}, this.#state.session);
    const printed = this.#printed;
    this.#printed = [];
    await terminal.close(printed);
    await this.#options.composer?.drafts?.flush(() => this.#composer.draft);
    return { session: this.#state.session, begun: this.#begun, state: this.#state };
  }

  /** What a client that crashed here had not sent. */
  async #restoreDraft(): Promise<void> {
    const draft = await this.#options.composer?.drafts?.load();
    if (draft === undefined || !this.#composer.isEmpty) return;
    this.#composer.restore(draft);
    this.#hint("This draft was not sent. Ctrl-C clears it.");
  }

  #onInput(input: TerminalInput): void {
    switch (input.kind) {
      case "key":
        this.#onKey(input);
        return;
      case "paste":
        if (this.#dialog !== undefined) this.#dialog.onPaste(input.text);
        else if (!this.#questions.onPaste(input.text)) this.#composer.onPaste(input.text);
        this.#changed("key");
        return;
      case "resize":
        if (this.#dialog !== undefined) this.#dialog.repaint();
        this.#paint();
        return;
      case "resumed":
        this.#paint();
        return;
      case "closed":
        this.#leave();
        return;
    }
  }

  #onKey(key: Key): void {
    const now = this.#options.clock.now();
    if (this.#dialog !== undefined) {
      this.#dialog.onKey(key);
      this.#changed("key");
      return;
    }
    const draftIsEmpty = this.#composer.isEmpty;
    if (this.#questions.onKey(key, { now, draftIsEmpty })) {
      this.#changed("key");
      return;
    }
    if (this.#composer.isOpen && this.#composer.onKey(key)) return;
    const taken = reduceKey(expire(this.#state, now), key.id, { now, draftIsEmpty });
    if (taken !== undefined) {
      this.#apply(taken);
      return;
    }
    if (key.id === "alt+enter" && this.#state.turn !== undefined) {
      this.#when = "later";
      this.#composer.submit();
      this.#when = "now";
      return;
    }
    this.#composer.onKey(key);
  }

  #onEvent(event: Envelope): void {
    if (event.session !== this.#state.session) return;
    if (event.kind === "TurnStarted") this.#begun = true;
    // The user saw the end of an interrupted earlier turn when the session opened.
    if (!this.#begun && (event.kind === "TurnEnded" || event.kind === "ToolResult") && this.#state.shell === undefined)
      return;
    const isDelta = event.kind === "TextDelta" || event.kind === "ThinkingDelta" || event.kind === "ToolCallProgress";
    const reduced = reduceEvent(this.#state, event, this.#options.clock.now());
    this.#state = reduced.state;
    for (const effect of reduced.effects) this.#carryOut(effect);
    this.#questions.show(this.#state.questions, {
      now: this.#options.clock.now(),
      draftIsEmpty: this.#composer.isEmpty,
    });
    this.#changed(isDelta ? "stream" : "event");
  }

  #apply({ state, effects }: Reduced): void {
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
    this.#changed("key");
  }

  #set(state: State): void {
    this.#state = state;
    this.#changed("event");
  }

  #carryOut(effect: Effect): void {
    const { terminal, clock } = this.#options;
    switch (effect.do) {
      case "print":
        this.#print(effect.block);
        return;
      case "answer":
        this.#said.push(effect.text);
        this.#answer.push(effect.text);
        return;
      case "end answer":
      case "drop answer":
        this.#flushAnswer();
        return;
      case "restore":
        this.#composer.prepend(effect.text);
        return;
      case "clear draft":
        // As a change like others, so that undo brings it back.
        this.#composer.setText("");
        return;
      case "suspend":
        terminal.suspend();
        return;
      case "call person":
        terminal.bell();
        terminal.notify(effect.text);
        return;
      case "exit":
        this.#leave();
        return;
      default:
        this.#carrier.carryOut(effect);
        return;
    }
  }

  #print(block: Block): void {
    const options = { width: this.#options.terminal.columns, theme: this.#theme, expanded: false, tools: this.#tools };
    this.#flushAnswer();
    this.#carrier.remember(block);
    this.#write(block.kind, renderBlock(block, { ...options, now: this.#options.clock.now() }));
  }

  /** One by one: output may have more lines than a call takes arguments. */
  #write(kind: Block["kind"], lines: readonly string[]): void {
    if (lines.length === 0) return;
    for (const line of [...this.#spacing.before(kind), ...lines]) this.#printed.push(line);
  }

  /** What is left of the answer becomes final. */
  #flushAnswer(): void {
    const markdown = this.#said.join("");
    this.#said = [];
    if (markdown !== "") this.#carrier.remember({ kind: "answer", markdown });
    this.#write("answer", this.#answer.end(this.#layout()));
  }

  #layout() {
    return { width: this.#options.terminal.columns, theme: this.#theme, tools: this.#tools };
  }

  #open<S, R>(dialog: Dialog<S, R>, then: (result: R) => void): void {
    this.#dialog = new OpenDialog(dialog, {
      size: () => (dialog.fullScreen ? this.#screenSize() : this.#dialogSize()),
      theme: () => this.#theme,
      fullScreen: () => this.#options.terminal.openFullScreen(),
      done: (result) => {
        this.#dialog = undefined;
        then(result as R);
        this.#changed("key");
      },
    });
    this.#changed("key");
  }

  #restart(session: SessionId, model: string): void {
    const { client, recent } = this.#options;
    const place = this.#state.place;
    this.#state = {
      ...firstState({ client: client.id, session, model, ...(recent && { recent }) }),
      ...(place && { place }),
    };
    this.#begun = true;
    this.#options.onSession?.(session);
  }

  #setTheme(name: string): void {
    const found = this.#options.themes?.find((theme) => theme.name === name);
    if (found !== undefined) this.#theme = found.theme;
    this.#changed("key");
  }

  #hint(text: string): void {
    const until = this.#options.clock.now() + 4000;
    this.#set({ ...this.#state, hint: { text, until } });
  }

  #leave(): void {
    this.#ended = true;
    this.#end();
  }

  /** A key is painted at once; a stream at the pace of frames. */
  #changed(cause: "key" | "event" | "stream"): void {
    if (this.#ended) return;
    this.#schedule();
    if (this.#stopPaint !== undefined && cause !== "key") return;
    const wait = cause === "key" ? 0 : this.#paintedAt + FRAME_MS - this.#options.clock.now();
    if (wait <= 0) {
      this.#paint();
      return;
    }
    this.#stopPaint = this.#options.clock.after(wait, () => this.#paint());
  }

  /** The time that is shown moves on while something runs; a hint goes by itself. */
  #schedule(): void {
    const { clock, still } = this.#options;
    if (this.#stopTick !== undefined || this.#ended) return;
    const { hint } = this.#state;
    const moves = isBusy(this.#state) && !still;
    if (!moves && hint === undefined) return;
    const wait = moves ? TICK_MS : Math.max(1, (hint?.until ?? 0) - clock.now());
    this.#stopTick = clock.after(wait, () => {
      this.#stopTick = undefined;
      this.#state = expire(this.#state, clock.now());
      this.#schedule();
      this.#paint();
    });
  }

  #paint(): void {
    this.#stopPaint?.();
    this.#stopPaint = undefined;
    if (this.#ended) return;
    const { terminal, clock } = this.#options;
    this.#paintedAt = clock.now();
    if (this.#dialog?.isFullScreen) {
      this.#dialog.repaint();
      return;
    }
    const taken = this.#answer.take(this.#layout());
    this.#write("answer", taken.finished);
    const printed = this.#printed;
    this.#printed = [];
    terminal.paint(this.#frame(taken.live), printed);
    terminal.setProgress(this.#state.questions.length > 0 ? "waiting" : isBusy(this.#state) ? "busy" : "none");
  }

  #live(kind: Block["kind"], lines: readonly string[]): readonly string[] {
    return lines.length === 0 ? [] : [...this.#spacing.ahead(kind), ...lines];
  }

  #frame(answer: readonly string[]) {
    const { terminal, clock, showCost, verses, still } = this.#options;
    const { columns, rows } = terminal;
    const theme = this.#theme;
    const now = clock.now();
    const options = { width: columns, theme, expanded: false, now, tools: this.#tools };
    const tools = this.#state.tools.flatMap((block) => renderBlock(block, options));
    const { shell } = this.#state;
    const output = shell === undefined ? [] : renderBlock({ kind: "shell", ...shell }, options);
    const most = Math.max(3, Math.floor(rows / COMPOSER_SHARE));
    const dialog: DialogView | undefined =
      this.#dialog?.view() ?? this.#questions.view({ ...this.#dialogSize() }, theme);
    return composeFrame(
      {
        live: [...this.#live("answer", answer), ...this.#live("tool", tools), ...output],
        working: workingLine(this.#state, { width: columns, theme, now, verses, still }),
        queue: queueLines(this.#state, { width: columns, theme }),
        dialog,
        dialogHasFocus: this.#dialog !== undefined || this.#questions.hasFocus,
        composer: this.#composer.view(columns, most, theme),
        status: statusLine(this.#state, { width: columns, theme, showCost }),
        hint: this.#state.hint?.text,
      },
      { columns, rows, theme },
    );
  }

  #screenSize() {
    const { columns, rows } = this.#options.terminal;
    return { columns, rows };
  }

  #dialogSize() {
    const { columns, rows } = this.#screenSize();
    return { columns, rows: Math.max(4, rows - 8) };
  }
}
