/**
 * `oxbow session replay`: steps through a stored session on the screen. It reads events and draws; it cannot run
 * anything.
 *
 * 1. Only the index of steps is kept. A step's content is read when it is shown and dropped when it is left.
 * 2. The first steps can be seen while the rest of the log is still being indexed.
 * 3. The screen is restored in every case. An error of the log is shown on it, and thrown after that.
 */
import type { Clock } from "../../../base/clock.js";
import { safeText } from "../../../base/terminal-text.js";
import { typedText } from "../input/editing-keys.js";
import type { FullScreen, TerminalInput, TuiTerminal } from "../terminal/terminal.js";
import type { Price } from "./cost-marks.js";
import { contains } from "./needle.js";
import { pauseMs, reduceReplay } from "./reduce-replay.js";
import { initialReplay, type ReplayAction, type ReplayState, type Search } from "./replay-state.js";
import { viewReplay } from "./replay-view.js";
import type { ContentOptions, StepContent } from "./step-content.js";
import { considerate, type EventSource, indexSteps, readStep, readSteps } from "./step-stream.js";
import { printReplay } from "./transcript.js";

/** Where the replay is shown. */
export interface ReplayOutput {
  readonly color: boolean;
  /** The terminal; undefined for a pipe or a file: the steps are printed one after the other instead. */
  readonly terminal?:
    | Pick<TuiTerminal, "columns" | "rows" | "onInput" | "openFullScreen" | "suspend" | "close">
    | undefined;
  /** A printed replay waits for the promise before it writes the next text. */
  write(text: string): void | Promise<void>;
}

export interface ReplayOptions {
  readonly events: EventSource;
  /** The id of the session's last event. */
  readonly lastEvent: number;
  /** Names the session. */
  readonly title: string;
  readonly output: ReplayOutput;
  readonly clock: Clock;
  /** The session's model, for steps before the log shows it. */
  readonly model?: string;
  readonly price?: Price;
  /** Events up to this one have lost their content. */
  readonly expiredTo?: number;
  readonly timeZone?: string;
  /** Ends the replay from outside: the process was asked to stop. */
  readonly signal?: AbortSignal;
}

/** A step that loads faster than this is never shown empty. */
const READING_MS = 60;
const RESULT_LINES = 30;

export async function runReplay(options: ReplayOptions): Promise<void> {
  const { terminal, write } = options.output;
  if (terminal === undefined) {
    for await (const text of printReplay(options)) await write(text);
    return;
  }
  try {
    await new Replay(options, terminal).run();
  } finally {
    await terminal.close();
  }
}

type ReplayTerminal = NonNullable<ReplayOutput["terminal"]>;

class Replay {
  readonly #options: ReplayOptions;
  readonly #terminal: ReplayTerminal;
  readonly #screen: FullScreen;
  #state: ReplayState;
  #end: () => void = () => {};
  #fault: { readonly error: unknown } | undefined;
  /** The step whose content is being read. */
  #reading: number | undefined;
  #searching: Search | undefined;
  #afterGrowth: (() => void)[] = [];
  #cancelDraw: (() => void) | undefined;
  #tick: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(options: ReplayOptions, terminal: ReplayTerminal) {
    this.#options = options;
    this.#terminal = terminal;
    this.#screen = terminal.openFullScreen();
    const { title, lastEvent, model, timeZone, output } = options;
    this.#state = initialReplay({ title, lastEvent, model, timeZone, color: output.color }, terminal);
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const leave = () => this.#dispatch({ type: "key", key: "ctrl+c" });
    const stop = this.#terminal.onInput((input) => this.#take(input, leave));
    signal?.addEventListener("abort", leave, { once: true });
    try {
      if (signal?.aborted) return;
      this.#follow();
      void this.#index();
      await ended;
    } finally {
      signal?.removeEventListener("abort", leave);
      stop();
      this.#cancelDraw?.();
      this.#tick?.cancel();
      this.#screen.close();
    }
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  #dispatch(action: ReplayAction): void {
    if (this.#state.over) return;
    this.#state = reduceReplay(this.#state, action);
    this.#follow();
  }

  /** Acts on the state. */
  #follow(): void {
    if (this.#state.over) {
      this.#end();
      return;
    }
    this.#readContent();
    this.#search();
    this.#schedule();
    this.#draw();
  }

  #take(input: TerminalInput, leave: () => void): void {
    if (input.kind === "closed") leave();
    else if (input.kind === "paste") for (const key of input.text) this.#dispatch({ type: "key", key });
    else if (input.kind !== "key") this.#dispatch({ type: "resize", size: this.#terminal });
    else if (input.id === "ctrl+z") this.#terminal.suspend();
    else {
      const key = typedText(input) ?? input.id;
      if (key !== undefined) this.#dispatch({ type: "key", key });
    }
  }

  async #index(): Promise<void> {
    const { events, price } = this.#options;
    const source = considerate(events, () => !this.#state.over);
    try {
      for await (const chunk of indexSteps(source({}), price)) {
        this.#dispatch({ type: "indexed", ...chunk });
        this.#wake();
      }
      this.#dispatch({ type: "index-ended" });
    } catch (error) {
      // Errors after the end (the store was closed) do not matter.
      if (!this.#state.over) this.#fault = { error };
      this.#dispatch({ type: "index-ended", problem: messageOf(error) });
    }
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#afterGrowth.splice(0)) wake();
  }

  #readContent(): void {
    const { at, content, steps } = this.#state;
    const step = steps[at];
    if (step === undefined || content !== undefined || this.#reading === at) return;
    this.#reading = at;
    const source = considerate(this.#options.events, () => this.#reading === at && !this.#state.over);
    void readStep(source, step, this.#contentOptions())
      .catch(unreadable)
      .then((read) => {
        if (this.#reading !== at) return;
        this.#reading = undefined;
        this.#dispatch({ type: "content", step: at, content: read });
      });
  }

  #contentOptions(): ContentOptions {
    return { resultLines: RESULT_LINES, expiredTo: this.#options.expiredTo };
  }

  #search(): void {
    const { search } = this.#state;
    if (search === undefined || search === this.#searching) return;
    this.#searching = search;
    void this.#find(search)
      .then(
        (step): ReplayAction => (step === undefined ? { type: "not-found", search } : { type: "found", search, step }),
      )
      .catch((error): ReplayAction => ({ type: "not-found", search, problem: messageOf(error) }))
      .then((action) => this.#dispatch(action));
  }

  /** The next step that contains it: to the end, then from the beginning to where the search began. */
  async #find(search: Search): Promise<number | undefined> {
    const begun = this.#state.steps[search.from];
    const later = await this.#findFrom(search, { after: begun?.last ?? 0, number: search.from + 1 });
    return later ?? this.#findFrom(search, { after: 0, number: 0, until: search.from });
  }

  async #findFrom(
    search: Search,
    { after, number, until = Number.POSITIVE_INFINITY }: { after: number; number: number; until?: number },
  ): Promise<number | undefined> {
    const source = considerate(this.#options.events, () => this.#state.search === search && !this.#state.over);
    let current = number;
    for await (const { content } of readSteps(source({ after }), this.#contentOptions())) {
      if (current > until) return undefined;
      if (contains(content, search.text)) return this.#onceIndexed(current);
      current++;
    }
    return undefined;
  }

  /** A search may run ahead of the index. */
  async #onceIndexed(step: number): Promise<number> {
    while (this.#state.steps.length <= step && !this.#state.indexed.done) {
      await new Promise<void>((resolve) => this.#afterGrowth.push(resolve));
    }
    return step;
  }

  #schedule(): void {
    const ms = pauseMs(this.#state);
    const { at } = this.#state;
    if (ms !== undefined && this.#tick?.at === at) return;
    this.#tick?.cancel();
    this.#tick = undefined;
    if (ms === undefined) return;
    const cancel = this.#options.clock.after(ms, () => {
      this.#tick = undefined;
      this.#dispatch({ type: "tick" });
    });
    this.#tick = { at, cancel };
  }

  #draw(): void {
    const isEmpty = this.#state.indexed.done && this.#state.steps.length === 0;
    if (this.#state.content === undefined && !isEmpty) {
      this.#cancelDraw ??= this.#options.clock.after(READING_MS, () => this.#drawNow());
    } else this.#drawNow();
  }

  #drawNow(): void {
    this.#cancelDraw?.();
    this.#cancelDraw = undefined;
    this.#screen.paint({ lines: viewReplay(this.#state) });
  }
}

function unreadable(error: unknown): StepContent {
  const text = safeText(messageOf(error));
  return { title: "Oxbow cannot read this step", style: "red", sections: [{ text, when: "always" }] };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
