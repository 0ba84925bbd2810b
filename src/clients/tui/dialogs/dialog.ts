/**
 * A dialog takes the keys until it ends: a question, a picker, a review, the help. It is a value and two pure functions, so that
 * a test needs no terminal.
 */
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";

export type Step<S, R> =
  | { readonly state: S }
  /** The dialog has ended. */
  | { readonly done: R };

export interface DialogSize {
  readonly columns: number;
  /** Rows that it may use. */
  readonly rows: number;
}

export interface Dialog<S, R> {
  readonly name: string;
  readonly first: S;
  /** It fills the screen while it is open; the conversation comes back after it. */
  readonly fullScreen?: true;
  /** What it is about has ended elsewhere: it closes without a result. */
  isOver?(): boolean;
  onKey(state: S, key: Key): Step<S, R>;
  onPaste?(state: S, text: string): Step<S, R>;
  view(state: S, size: DialogSize, theme: Theme): DialogView;
}

export interface DialogView {
  readonly lines: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number };
}
