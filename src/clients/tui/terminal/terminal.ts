/** The terminal as the client sees it. `openTerminal` makes one from real streams; tests make one from a virtual terminal. */

export interface Key {
  /** As pi-tui's `parseKey` names it: `enter`, `shift+tab`, `ctrl+c`, `alt+up`, `a`. Undefined for text it has no name for. */
  readonly id: string | undefined;
  /** The bytes as they came, for the editor. */
  readonly data: string;
}

export type TerminalInput =
  | ({ readonly kind: "key" } & Key)
  /** A bracketed paste, or a burst that arrived faster than a person types: always one block. */
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "resize"; readonly columns: number; readonly rows: number }
  /** The person came back by `fg`. */
  | { readonly kind: "resumed" }
  /** The terminal is gone, or a signal ends the process. The terminal is restored already; `close` may still print. */
  | { readonly kind: "closed"; readonly signal?: string };

/** The live part at the bottom of the screen. Lines hold styles but no control sequences that move the cursor. */
export interface Frame {
  readonly lines: readonly string[];
  /** Where the hardware cursor stands; hidden without it. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

export interface TuiTerminal {
  readonly columns: number;
  readonly rows: number;
  /**
   * Replaces the live part. `printed` goes above it first, into the terminal's own scrollback, and is never written again.
   * Only changed rows are written, in one synchronized update. A frame higher than the screen loses its first rows.
   */
  paint(frame: Frame, printed?: readonly string[]): void;
  onInput(listener: (input: TerminalInput) => void): () => void;
  /** Uses the alternate screen for a viewer that fills the screen; the returned function goes back to the conversation. */
  openFullScreen(): FullScreen;
  bell(): void;
  notify(text: string): void;
  setTitle(title: string): void;
  /** `busy` shows the terminal's own progress sign where there is one. Call it again now and then: some let it fade. */
  setProgress(state: "none" | "busy" | "waiting"): void;
  /** Asks the terminal to put the text into the clipboard. False when it certainly does not: too long, or not able. */
  copy(text: string): boolean;
  /** By the terminal's own answer, which takes a moment; undefined when it does not say. */
  backgroundIsLight(): Promise<boolean | undefined>;
  /** Gives the terminal back to the shell (Ctrl-Z); input `resumed` follows. */
  suspend(): void;
  /** Gives the terminal to another program while `action` runs (an editor). */
  lend<T>(action: () => Promise<T>): Promise<T>;
  /**
   * Restores everything; what the last frame showed is replaced by `last`. May be called twice. The promise ends when all is
   * written, which takes a while over a slow link; nothing else waits for it.
   */
  close(last?: readonly string[]): Promise<void>;
}

export interface FullScreen {
  paint(frame: Frame): void;
  close(): void;
}
