/**
 * What the undo of commands covers, in one place. The file tools (`write`, `edit`, `apply_patch`) announce their
 * changes, so these numbers do not apply to them. A command announces nothing: the workspace is compared before and
 * after it, and that has to end somewhere.
 *
 * Never covered: what happens outside the workspace, in UNWATCHED_NAMES and in folders that ignore files leave out; what a
 * command in the background does after its call ended; owners, times, extended attributes, and which names were hard links of
 * one file.
 * What other people change in the workspace while a command runs counts as its doing.
 */
export interface UndoLimits {
  /** Files, links and folders looked at. A workspace with more is not watched, and every command reports it. */
  readonly entries: number;
  /** Files whose content is kept. What changes beyond is listed and cannot be undone. */
  readonly files: number;
  /** Their size taken together. */
  readonly totalBytes: number;
  /** The size of one of them. */
  readonly fileBytes: number;
  /** Files that ignore files leave out (`.env`) are watched up to this size, in folders that they do not leave out. */
  readonly ignoredFileBytes: number;
  /** Once a session's journal is as large as this, commands add no more content to it. */
  readonly journalBytes: number;
}

export const UNDO_LIMITS: UndoLimits = {
  entries: 20_000,
  files: 5_000,
  totalBytes: 64 * 1024 * 1024,
  fileBytes: 2 * 1024 * 1024,
  ignoredFileBytes: 64 * 1024,
  journalBytes: 256 * 1024 * 1024,
};

/** The records of version control, and what a package manager can make again. */
export const UNWATCHED_NAMES: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  ".jj",
  ".sl",
  ".bzr",
  "node_modules",
  ".venv",
  "__pycache__",
]);

/** A file is removed or replaced by an undo only when it can be kept for the undo of that: this much is read whole. */
export const MAX_KEPT_BYTES = 32 * 1024 * 1024;
