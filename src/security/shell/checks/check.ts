/** Rules that a table cannot express. A check returns why a command is not read-only, or undefined. */
import type { Arguments } from "../arguments.js";
import type { Whereabouts } from "../paths.js";
import type { Word } from "../syntax.js";

export interface Checked {
  /** As called. */
  readonly program: string;
  /** The words after the program and its sub-commands. */
  readonly words: readonly Word[];
  /** Sorted by the table. */
  readonly arguments: Arguments;
  readonly place: Whereabouts;
}

export type Check = (checked: Checked) => string | undefined;
