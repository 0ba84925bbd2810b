/**
 * What the journal says.
 *
 * 1. `change` of a file tool and `undo` are written before the first byte changes, so after a crash each
 *    file is as `before` or as `after` says.
 * 2. A watched call is written before the command starts, after everything in the workspace that is to be kept was; its
 *    `change` comes when it ended, and then its `end`. Without an `end` it was interrupted.
 * 3. `seen` holds changes that no tool made; `seen` and the changes of watched calls together are
 *    the workspace at the last comparison.
 */
import type { CallId, TurnId } from "../../protocol/ids.js";
import type { Change, EntryState } from "./entry-state.js";

export type UndoRecord =
  | OpenRecord
  | CallRecord
  | ContentRecord
  | SeenRecord
  | ChangeRecord
  | EndRecord
  | UndoneRecord
  | DoneRecord;

/** The first one: where the session worked, and whether ignore files were obeyed. */
export interface OpenRecord {
  readonly is: "open";
  readonly root: string;
  readonly at: number;
  readonly ignore: boolean;
}

export interface CallRecord {
  readonly is: "call";
  readonly call: CallId;
  readonly turn: TurnId;
  /** The number of the turn in its session, from 1, if known. */
  readonly number?: number;
  readonly tool: string;
  readonly at: number;
  /** The workspace is compared before and after it. */
  readonly watched: boolean;
}

/** Where contents lie: the frame at `at` holds these, one after the other. */
export interface ContentRecord {
  readonly is: "content";
  readonly at: number;
  readonly list: readonly (readonly [address: string, length: number])[];
}

export interface SeenRecord {
  readonly is: "seen";
  readonly list: readonly (readonly [path: string, state: EntryState | null])[];
}

export interface ChangeRecord {
  readonly is: "change";
  readonly call: CallId;
  readonly list: readonly Change[];
}

export interface EndRecord {
  readonly is: "end";
  readonly call: CallId;
  /** What of this call is not covered, in words. */
  readonly gaps?: readonly string[];
}

export interface UndoneRecord {
  readonly is: "undo";
  readonly id: string;
  readonly at: number;
  /** Turns, or for a redo the undos, whose changes are reverted. */
  readonly of: readonly string[];
  readonly redo: boolean;
  readonly list: readonly Change[];
}

export interface DoneRecord {
  readonly is: "done";
  readonly id: string;
  /** It failed and was reverted: it does not count. */
  readonly failed?: true;
}
