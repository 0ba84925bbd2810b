/** The terminal as the client sees it. `openTerminal` makes one from real streams; tests make one from a virtual terminal. */

export interface Key {
  /** As `nameKey` names it: `enter`, `shift+tab`, `ctrl+c`, `alt+up`, `a`. Undefined for text it has no name for. */
  readonly id: string | undefined;
  /** The bytes as they came. */
  readonly data: string;
}

export type TerminalInput =
  | ({ readonly kind: "key" } & Key)
  /** A bracketed paste, or a burst that arrived faster than a person types: always one block. */
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "resize"; readonly columns: number; readonly rows: number }
  /** The user returned with `fg`. */
  | { readonly kind: "resumed" }
  /** The terminal was closed, or a signal ends the process. The terminal is already restored; `close` may still print. */
  | { readonly kind: "closed"; readonly signal?: string };

/** The live part at the bottom of the screen. Lines contain styles, but no sequences that move the cursor. */
export interface Frame {
  readonly lines: readonly string[];
  /** The position of the hardware cursor; absent: hidden. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

export interface TuiTerminal {
  readonly columns: number;
  readonly rows: number;
  /** Whether the terminal wraps long lines anew when its width changes, and copies them as one. */
  readonly reflows: boolean;
  /**
   * Replaces the live part. `printed` is written above it first, into the terminal's own scrollback, and never again.
   * A printed row that begins with `CONTINUED` continues the line above it.
   * Only changed rows are written, in one synchronized update. A frame higher than the screen loses its first rows.
   */
  paint(frame: Frame, printed?: readonly string[]): void;
  onInput(listener: (input: TerminalInput) => void): () => void;
  /** Uses the alternate screen for a viewer that fills the screen; the returned function goes back to the conversation. */
  openFullScreen(): FullScreen;
  bell(): void;
  notify(text: string): void;
  setTitle(title: string): void;
  /** `busy` shows the terminal's own progress indicator, if there is one. Call it again regularly: some terminals remove it. */
  setProgress(state: "none" | "busy" | "waiting"): void;
  /** Asks the terminal to copy the text to the clipboard. False if it certainly cannot: too long, or not supported. */
  copy(text: string): boolean;
  /** From the terminal's own answer, which takes a moment; undefined without an answer. */
  backgroundIsLight(): Promise<boolean | undefined>;
  /** Gives the terminal back to the shell (Ctrl-Z); input `resumed` follows. */
  suspend(): void;
  /** Gives the terminal to another program while `action` runs (an editor). */
  lend<T>(action: () => Promise<T>): Promise<T>;
  /**
   * Restores everything and replaces the last frame by `last`. It may be called twice. The promise resolves when everything is written,
   * which takes a while over a slow connection; nothing else waits for it.
   */
  close(last?: readonly string[]): Promise<void>;
}

export interface FullScreen {
  paint(frame: Frame): void;
  close(): void;
}
