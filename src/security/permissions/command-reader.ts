/**
 * Loads the shell parser. The parser and its tables are some thousand lines that a session without commands never needs, so they load
 * with the first command: the first model request does not wait for them. `decide` takes the reader's result as data and stays
 * synchronous.
 */
import type { CommandFacts } from "./facts.js";
import type { LinkReader } from "./link-problem.js";
import type { TrackedFiles, TrackedSecrets } from "./tracked-files.js";
import type { TreeReader } from "./tree-problem.js";

export interface CommandReader {
  (text: string): CommandFacts;
  /** Reads the words alone and never looks at the disk. What this finds harmful, the disk cannot make harmless. */
  byWords?(text: string): CommandFacts;
}

export interface CommandReaderOptions {
  /** Absolute. */
  readonly workspace: string;
  /** The folder in which commands start, when that is not the workspace itself. */
  readonly cwd?: string;
  /** Oxbow's own folders, absolute. */
  readonly ownFolders?: readonly string[];
  /** A folder in them with outputs of the model's own commands: absolute; it is read like the workspace. */
  readonly outputs?: string | undefined;
  /** Tells whether git may look at the work tree here without running what the repository names (`quiet-repository.ts`). */
  readonly isQuietRepository?: () => boolean;
  /** Resolves symbolic links; without it, words are taken literally. */
  readonly links?: LinkReader;
  /** Lists folders; without it, only words are checked. */
  readonly trees?: TreeReader;
  /** The files that hold secrets in git's index. */
  readonly trackedSecrets?: TrackedSecrets;
  /** All files in it. */
  readonly trackedFiles?: TrackedFiles;
  /** For `~`. */
  readonly home?: string;
}

export async function loadCommandReader(options: CommandReaderOptions): Promise<CommandReader> {
  const { readCommand } = await import("./read-command.js");
  const { isQuietRepository: _, links: __, trees: ___, trackedSecrets: ____, trackedFiles: _____, ...plain } = options;
  const words = { ...plain, isQuietRepository: () => true };
  return Object.assign((text: string) => readCommand(text, options), {
    byWords: (text: string) => readCommand(text, words),
  });
}
