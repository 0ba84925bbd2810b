/**
 * Defines what the journal says.
 *
 * A `change` and an `undo` are written before the first byte changes, so after a crash each file is as `before` or as `after` says.
 * An older journal has records of other kinds; they say nothing that counts.
 */
import type { CallId, TurnId } from "../../protocol/ids.js";
import type { Change } from "./entry-state.js";

export type UndoRecord = OpenRecord | CallRecord | ContentRecord | ChangeRecord | EndRecord | UndoneRecord | DoneRecord;

/** The first one: where the session worked. */
export interface OpenRecord {
  readonly is: "open";
  readonly root: string;
  readonly at: number;
}

export interface CallRecord {
  readonly is: "call";
  readonly call: CallId;
  readonly turn: TurnId;
  /** The number of the turn in its session, from 1, if known. */
  readonly number?: number;
  readonly tool: string;
  readonly at: number;
  /** It ran a command: what that changed in ignored folders or in `.git` is not recorded. */
  readonly command?: true;
}

/** Says where contents lie: the frame at `at` holds these, one after the other. */
export interface ContentRecord {
  readonly is: "content";
  readonly at: number;
  readonly list: readonly (readonly [address: string, length: number])[];
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
