/** The terminal of the client: a `TuiTerminal` from the streams and signals of a process. */
import { reflowByAnswer, terminalAbilities } from "./abilities.js";
import { Announcer, type ProgressState } from "./announcer.js";
import { BackgroundColour } from "./background-colour.js";
import { FramePacer } from "./frame-pacer.js";
import { OpenFullScreen } from "./full-screen.js";
import { Holding } from "./holding.js";
import { InputDecoder } from "./input-decoder.js";
import { LivePart } from "./live-part.js";
import { ScreenSize } from "./screen-size.js";
import { stopProcess } from "./stop-process.js";
import type { Frame, FullScreen, TerminalInput, TuiTerminal } from "./terminal.js";
import type { TerminalIo, TerminalSignal } from "./terminal-io.js";

export function openTerminal(io: TerminalIo): TuiTerminal {
  return new OpenTerminal(io);
}

/** `away`: another program has the terminal. `restored`: the modes are reset, and the live part is still on the screen. */
type State = "open" | "away" | "restored" | "closed";

class OpenTerminal implements TuiTerminal {
  readonly #io: TerminalIo;
  readonly #live: LivePart;
  readonly #pacer: FramePacer;
  readonly #decoder: InputDecoder;
  readonly #holding: Holding;
  readonly #announcer: Announcer;
  readonly #background: BackgroundColour;
  readonly #size: ScreenSize;
  readonly #listeners = new Set<(input: TerminalInput) => void>();
  readonly #subscriptions: (() => void)[];
  readonly #exitSubscription: () => void;
  #stopSubscription: (() => void) | undefined;
  #fullScreen: OpenFullScreen | undefined;
  #state: State = "open";
  #ending = Promise.resolve();

  constructor(io: TerminalIo) {
    const { clock } = io;
    const abilities = terminalAbilities(io.variables);
    this.#io = io;
    this.#size = new ScreenSize({
      io,
      onChanging: () => this.#pacer.hold("resize"),
      onChanged: () => this.#onResized(),
    });
    this.#live = new LivePart(abilities.reflow);
    this.#announcer = new Announcer(abilities, {
      clock,
      send: (bytes) => this.#send(bytes),
      onChange: () => this.#holding.notifyWatcher(),
    });
    this.#background = new BackgroundColour(io);
    this.#decoder = new InputDecoder({
      ...{ clock, isRemote: abilities.isRemote },
      onInput: (input) => this.#emit(input),
      onAnswer: (answer) => {
        this.#holding.takeAnswer(answer);
        this.#background.takeAnswer(answer);
        if (!abilities.isTmux) this.#live.reflow = reflowByAnswer(answer) ?? this.#live.reflow;
      },
    });
    this.#holding = new Holding({
      io,
      onBytes: (bytes) => this.#decoder.push(bytes),
      asks: abilities.strings,
      announced: () => this.#announcer.undo(),
    });
    this.#pacer = new FramePacer({
      clock,
      render: () => this.#render(),
      write: (bytes, written) => {
        io.write(bytes, () => {
          written();
          this.#holding.startLate();
        });
      },
    });
    this.#subscriptions = this.#subscribe();
    this.#exitSubscription = io.onExit(() => this.#onExit());
    this.#stopSubscription = io.onSignal("SIGTSTP", () => this.suspend());
    this.#holding.take();
  }

  get reflows(): boolean {
    return this.#live.reflow !== "none";
  }

  get columns(): number {
    return this.#size.known.columns;
  }

  get rows(): number {
    return this.#size.known.rows;
  }

  paint(frame: Frame, printed: readonly string[] = []): void {
    if (this.#state === "closed") return;
    this.#live.set(frame, printed);
    this.#pacer.request();
  }

  onInput(listener: (input: TerminalInput) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  backgroundIsLight(): Promise<boolean | undefined> {
    return this.#background.isLight();
  }

  openFullScreen(): FullScreen {
    this.#fullScreen?.close();
    this.#pacer.hold("full screen");
    const screen = new OpenFullScreen({
      clock: this.#io.clock,
      size: () => this.#size.known,
      write: (bytes, written) => this.#io.write(bytes, written),
      onClose: () => this.#closeFullScreen(),
    });
    this.#fullScreen = screen;
    // Erase the live part first, so that nothing of it remains, whatever happens to the size meanwhile.
    this.#send(this.#live.erase(this.#io.size()));
    this.#send(this.#holding.enterFullScreen());
    if (this.#state !== "open") screen.hold();
    return screen;
  }

  bell(): void {
    this.#announcer.bell();
  }

  notify(text: string): void {
    this.#announcer.notify(text);
  }

  setTitle(title: string): void {
    this.#announcer.setTitle(title);
  }

  setProgress(state: ProgressState): void {
    this.#announcer.setProgress(state);
  }

  copy(text: string): boolean {
    return this.#announcer.copy(text);
  }

  suspend(): void {
    if (this.#state !== "open") return;
    this.#pacer.hold("away");
    this.#pacer.whenWritten(() => {
      if (!this.#goAway()) return;
      stopProcess(this.#io, () => {
        if (this.#comeBack()) this.#emit({ kind: "resumed" });
      });
    });
  }

  async lend<T>(action: () => Promise<T>): Promise<T> {
    if (this.#state !== "open") return action();
    this.#pacer.hold("away");
    await new Promise<void>((resolve) => this.#pacer.whenWritten(resolve));
    this.#goAway();
    try {
      return await action();
    } finally {
      this.#comeBack();
    }
  }

  close(last: readonly string[] = []): Promise<void> {
    if (this.#state === "closed") return this.#ending;
    this.#fullScreen?.close();
    const isOnItsWay = this.#pacer.isWriting && this.#state === "open";
    const announced = this.#state === "open" ? this.#announcer.undo() : "";
    const bytes = announced + this.#live.finish(last, this.#io.size());
    this.#state = "closed";
    this.#endTimers();
    if (!isOnItsWay) this.#io.writeNow(bytes);
    this.#ending = this.#end(isOnItsWay ? bytes : "");
    return this.#ending;
  }

  /** Waits for a pending frame, and for answers: in a shell they would look like typed text. */
  async #end(bytes: string): Promise<void> {
    if (bytes !== "") await new Promise<void>((resolve) => this.#io.write(bytes, resolve));
    if (this.#holding.waits) await this.#holding.answered();
    this.#holding.give((modes) => this.#io.writeNow(modes));
    this.#over();
  }

  #subscribe(): (() => void)[] {
    const { onResize, onLost, onSignal } = this.#io;
    return [
      onResize(() => this.#size.change()),
      onLost(() => this.#onLost()),
      ...(["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => onSignal(signal, () => this.#onSignal(signal))),
    ];
  }

  #render(): string | undefined {
    return this.#size.check() ? this.#live.render(this.#size.known) : undefined;
  }

  #send(bytes: string): void {
    if (bytes !== "" && this.#state === "open") this.#io.write(bytes);
  }

  #emit(input: TerminalInput): void {
    for (const listener of [...this.#listeners]) listener(input);
  }

  #closeFullScreen(): void {
    this.#fullScreen = undefined;
    this.#send(this.#holding.leaveFullScreen());
    this.#pacer.request();
    this.#pacer.release("full screen");
  }

  #onResized(): void {
    this.#emit({ kind: "resize", ...this.#size.known });
    this.#fullScreen?.repaint();
    this.#pacer.request();
    this.#pacer.release("resize");
  }

  /** False if the client does not have the terminal. */
  #goAway(): boolean {
    if (this.#state !== "open") return false;
    this.#fullScreen?.hold();
    const erased = this.#fullScreen === undefined ? this.#live.erase(this.#io.size()) : "";
    this.#io.writeNow(erased + this.#announcer.undo());
    this.#holding.give((bytes) => this.#io.writeNow(bytes));
    this.#state = "away";
    // Ctrl-Z in the other program stops this process, too.
    this.#stopSubscription?.();
    return true;
  }

  /** False if the client has ended meanwhile. */
  #comeBack(): boolean {
    if (this.#state !== "away") return false;
    this.#state = "open";
    this.#stopSubscription = this.#io.onSignal("SIGTSTP", () => this.suspend());
    this.#decoder.reset();
    this.#holding.take();
    this.#send(this.#announcer.redo());
    this.#size.check();
    this.#fullScreen?.repaint();
    this.#pacer.request();
    this.#pacer.release("away");
    return true;
  }

  #onSignal(signal: TerminalSignal): void {
    // Ctrl-C in the other program is for that program.
    if (signal === "SIGINT" && this.#state === "away") return;
    this.#restore();
    this.#emit({ kind: "closed", signal });
  }

  #onLost(): void {
    if (this.#state === "closed") return;
    this.#holding.give(() => {});
    this.#over();
    this.#emit({ kind: "closed" });
  }

  #onExit(): void {
    this.#restore();
    if (this.#state === "restored") this.#io.writeNow(this.#live.leave());
    // A process that is ending cannot wait, as `close` does.
    this.#holding.giveNow();
    this.#over();
  }

  #over(): void {
    this.#state = "closed";
    this.#endTimers();
    this.#holding.end();
    this.#exitSubscription();
  }

  /** Restores the terminal without waiting. The live part stays, so that `close` can still replace it. */
  #restore(): void {
    if (this.#state !== "open" && this.#state !== "away") return;
    this.#pacer.hold("restored");
    this.#fullScreen?.hold();
    if (this.#state === "open") this.#io.writeNow(this.#announcer.undo());
    this.#holding.giveNow();
    this.#state = "restored";
  }

  #endTimers(): void {
    this.#pacer.hold("closed");
    this.#size.stop();
    this.#background.giveUpWaiting();
    this.#decoder.reset();
    this.#stopSubscription?.();
    for (const unsubscribe of this.#subscriptions.splice(0)) unsubscribe();
  }
}
