/** The terminal as the plain clients need it: two outputs, their capabilities, and lines from the user. */
export interface Terminal {
  readonly out: Output;
  readonly err: Output;
  /** Says whether tool calls and progress are shown on `err`. */
  readonly showProgress: boolean;
  readonly color: boolean;
  /** Hides what a turn cost. */
  readonly hidesCost?: boolean;
  /** Asks on `err` and reads one line; undefined when the input ended. Absent without a terminal. */
  readonly askLine?: (question: string, signal?: AbortSignal) => Promise<string | undefined>;
}

export interface Output {
  readonly isTerminal: boolean;
  /** The answer is written as it arrives, also to a pipe. */
  readonly streams?: boolean;
  /** The current width, if known. */
  readonly columns?: number | undefined;
  write(text: string): void;
}
