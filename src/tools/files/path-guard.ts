/** The workspace calls it before it changes or shows a file. The runtime supplies it from the guard list. */
export interface PathGuard {
  /** Tells why a change of this path needs the user's approval; undefined if it does not. The path is absolute, without links. */
  reason(absolute: string): Promise<string | undefined>;
  /** Tells whether it is one of the program's own files, under any name: no tool reads or changes those. */
  isOwn(absolute: string, found: FoundEntry | undefined): Promise<boolean>;
}

/** The identity of a file, from `stat`. */
export interface FoundEntry {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly nlink: bigint;
}

export const NO_GUARD: PathGuard = {
  reason: () => Promise.resolve(undefined),
  isOwn: () => Promise.resolve(false),
};
