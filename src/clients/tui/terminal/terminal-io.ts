/** The part of the process and its streams that `openTerminal` needs. `processIo` makes it from the real ones. */
import type { Clock } from "../../../base/clock.js";
import type { Variables } from "../../../base/variables.js";

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export type TerminalSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGTSTP" | "SIGCONT";

/** A process that restores the terminal when this one is killed. */
export interface Watcher {
  /** The bytes that it then writes to the terminal; empty: nothing. */
  restoreBy(bytes: string): void;
  end(): void;
}

export interface TerminalIo {
  readonly variables: Variables;
  readonly clock: Clock;
  /** The current size, read at each call. */
  size(): TerminalSize;
  onResize(listener: () => void): () => void;
  /** Sets raw mode and reads; the returned function ends both. */
  take(onBytes: (bytes: Buffer) => void): () => void;
  /** Calls `written` when the terminal has accepted the text. */
  write(text: string, written?: () => void): void;
  /** Writes at once, bypassing the queue: the process may end right after. */
  writeNow(text: string): void;
  /** The terminal was closed: end of input, EIO, EPIPE. */
  onLost(listener: () => void): () => void;
  onSignal(signal: TerminalSignal, listener: () => void): () => void;
  /** The process ends, or an exception is about to end it. The listener cannot wait. */
  onExit(listener: () => void): () => void;
  /** Stops this process and the others of its group, as the terminal does for Ctrl-Z. */
  stop(): void;
  startWatcher?(): Watcher | undefined;
}
