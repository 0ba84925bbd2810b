/** What the workspace asks before it changes or shows something: supplied by the program, which knows the guard list. */
export interface PathGuard {
  /** Why only a person may let this path change; undefined for an ordinary one. Absolute and free of links. */
  reason(absolute: string): Promise<string | undefined>;
  /** Whether it is one of the program's own files, under whatever name: no tool reads or changes those. */
  isOwn(absolute: string, found: FoundEntry | undefined): Promise<boolean>;
}

/** What tells a file from others of the same name, as `stat` gives it. */
export interface FoundEntry {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly nlink: bigint;
}

export const NO_GUARD: PathGuard = {
  reason: () => Promise.resolve(undefined),
  isOwn: () => Promise.resolve(false),
};
