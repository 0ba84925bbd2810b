/**
 * Limits how much undo keeps. Never covered: what happens outside the workspace, in folders that ignore files leave out, and by programs that write
 * into the workspace directly; owners, times, extended attributes, and which names were hard links of one file.
 */
export interface UndoLimits {
  /** The size of a file whose content is kept for a command. */
  readonly fileBytes: number;
  /** Once a session's journal is as large as this, commands add no more content to it. */
  readonly journalBytes: number;
}

export const UNDO_LIMITS: UndoLimits = { fileBytes: 2 * 1024 * 1024, journalBytes: 256 * 1024 * 1024 };

/** A file is removed or replaced by an undo only when it can be kept for the undo of that: this much is read whole. */
export const MAX_KEPT_BYTES = 32 * 1024 * 1024;
