/** Arguments and results of a workspace. */
import type { ChangeObserver } from "./change-observer.js";
import type { FileStat } from "./file-stat.js";
import type { PathGuard } from "./path-guard.js";
import type { ResolvedPath } from "./path-resolver.js";
import type { DecodedText } from "./text-file.js";

export interface FileBytes extends FileStat {
  /** Shorter than `size` when a limit cut it. */
  readonly bytes: Buffer;
}

/** A text file with `\n` line endings and no byte order mark, and what is needed to write it back unchanged. */
export interface TextFile extends FileStat, DecodedText {
  /** Identifies this exact content; `writeText` takes it as `basis`. */
  readonly version: string;
}

export interface ReadTextOptions {
  /** `look` does not count as the session having seen the file. Default `remember`. */
  readonly purpose?: "remember" | "look";
}

export interface WriteOptions {
  /** It replaces text that was found in the file as it is now, so a change since the session read it does not matter. */
  readonly despiteChange?: boolean;
  /**
   * The version that the new content is based on. The write is refused if the file has changed; the session then needs no earlier read.
   * A file that the session did read must still be unchanged, with or without a basis.
   */
  readonly basis?: string;
  /** Permission bits for a new file; an existing one keeps its own. */
  readonly mode?: number;
}

export interface WriteResult {
  /** The file had changed since the session read it. */
  readonly hadChanged?: true;
  readonly path: ResolvedPath;
  readonly created: boolean;
  /** False if the file already had exactly this content. */
  readonly changed: boolean;
  /** Holds what the file held before, decoded; empty for a new file. */
  readonly before: string;
  /** Its current content, in the same form. */
  readonly after: string;
  readonly version: string;
}

export interface WorkspaceOptions {
  readonly extraRoots?: readonly string[];
  /** The folder that commands see as `/tmp`. */
  readonly temporary?: string | undefined;
  readonly observer?: ChangeObserver | undefined;
  /** Default: no place is guarded. */
  readonly guard?: PathGuard | undefined;
  /** For new files and folders; default: that of this process. */
  readonly umask?: number | undefined;
}
