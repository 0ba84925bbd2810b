/** An open dialog: keeps its state and passes keys to it. */
import type { FullScreen, Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";

export interface OpenDialogOptions {
  readonly size: () => DialogSize;
  readonly theme: () => Theme;
  /** For a dialog that fills the screen. */
  readonly fullScreen: () => FullScreen;
  readonly done: (result: unknown) => void;
}

export class OpenDialog {
  readonly #dialog: Dialog<unknown, unknown>;
  readonly #options: OpenDialogOptions;
  readonly #screen: FullScreen | undefined;
  #state: unknown;

  /** `unknown`, because only the dialog knows the type of its state. */
  constructor(dialog: unknown, options: OpenDialogOptions) {
    this.#dialog = dialog as Dialog<unknown, unknown>;
    this.#options = options;
    this.#state = this.#dialog.first;
    this.#screen = this.#dialog.fullScreen ? options.fullScreen() : undefined;
    this.repaint();
  }

  get isFullScreen(): boolean {
    return this.#screen !== undefined;
  }

  onKey(key: Key): void {
    this.#take(this.#dialog.onKey(this.#state, key));
  }

  /** Closes it if what it is about has ended elsewhere. */
  endIfOver(): void {
    if (this.#dialog.isOver?.()) this.#take({ done: undefined });
  }

  onPaste(text: string): void {
    const step = this.#dialog.onPaste?.(this.#state, text);
    if (step !== undefined) this.#take(step);
  }

  /** Undefined for one that fills the screen. */
  view(): DialogView | undefined {
    if (this.#screen !== undefined) return undefined;
    return this.#dialog.view(this.#state, this.#options.size(), this.#options.theme());
  }

  repaint(): void {
    this.#screen?.paint(this.#dialog.view(this.#state, this.#options.size(), this.#options.theme()));
  }

  #take(step: Step<unknown, unknown>): void {
    if ("done" in step) {
      this.#screen?.close();
      this.#options.done(step.done);
      return;
    }
    this.#state = step.state;
    this.repaint();
  }
}
