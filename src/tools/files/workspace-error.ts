/** Explains why a file could not be used. The message is for the model: what is wrong and what to do. */
export type WorkspaceErrorCode =
  | "invalid"
  | "outside"
  | "missing"
  | "exists"
  | "not_a_file"
  | "not_a_folder"
  | "binary"
  | "too_large"
  | "unread"
  | "changed"
  | "read_only"
  | "guarded"
  | "io";

export class WorkspaceError extends Error {
  readonly code: WorkspaceErrorCode;
  /** Names and text of files that belong to the message. */
  readonly quoted: string | undefined;

  constructor(
    code: WorkspaceErrorCode,
    message: string,
    options: { cause?: unknown; quoted?: string | undefined } = {},
  ) {
    super(message, options);
    this.name = "WorkspaceError";
    this.code = code;
    this.quoted = options.quoted;
  }
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** A system error as a message; `shown` is the path as the model knows it. */
export function fromSystem(error: unknown, shown: string): WorkspaceError {
  if (error instanceof WorkspaceError) return error;
  const errno = errnoOf(error);
  const known = errno === undefined ? undefined : SYSTEM_ERRORS[errno];
  if (known !== undefined) return new WorkspaceError(known[0], `${shown} ${known[1]}`, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new WorkspaceError("io", `${shown} could not be used: ${message}`, { cause: error });
}

/** Runs `action`; system errors become messages for the model. */
export async function withWorkspaceErrors<T>(shown: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw fromSystem(error, shown);
  }
}

const SYSTEM_ERRORS: Readonly<Record<string, readonly [WorkspaceErrorCode, string]>> = {
  ENOENT: ["missing", "does not exist."],
  ENOTDIR: ["not_a_folder", "runs through a file as if it were a folder."],
  EISDIR: ["not_a_file", "is a folder."],
  EEXIST: ["exists", "exists already."],
  EACCES: ["io", "may not be used by this account (permission denied)."],
  EPERM: ["io", "may not be changed by this account (operation not permitted)."],
  EROFS: ["io", "is on a read-only file system."],
  ELOOP: ["invalid", "is a symbolic link that leads in a circle or was swapped while it was opened."],
  ENAMETOOLONG: ["invalid", "has a name that is too long for this file system. Use a shorter one."],
  ENXIO: ["not_a_file", "is not a regular file."],
  ENOTEMPTY: ["exists", "is a folder that is not empty."],
  ENOSPC: ["io", "could not be written: the disk is full."],
  EDQUOT: ["io", "could not be written: the disk quota is used up."],
  EMFILE: ["io", "could not be opened: too many open files. Try again."],
  EXDEV: ["io", "cannot be moved to another file system. Write it there and remove it here."],
  EBUSY: ["io", "is in use by the system and cannot be replaced."],
};
