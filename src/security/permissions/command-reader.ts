/**
 * The way to the shell parser. It and its tables are some thousand lines that a session without commands never needs, so they
 * are loaded with the first command and not with the program: `decide` takes what the reader found as data and stays
 * synchronous, and the first model request does not pay.
 */
import type { CommandFacts } from "./facts.js";
import type { AskGit } from "./git-problem.js";
import type { LinkReader } from "./link-problem.js";
import type { TreeReader } from "./tree-problem.js";

export type CommandReader = (text: string) => CommandFacts;

export interface CommandReaderOptions {
  /** Absolute. */
  readonly workspace: string;
  /** Where commands start, when that is not the workspace itself. */
  readonly cwd?: string;
  /** Oxbow's own folders, absolute. */
  readonly ownFolders?: readonly string[];
  /** Whether git may look at the work tree here without running what the repository names (`quiet-repository.ts`). */
  readonly isQuietRepository?: () => boolean;
  /** Resolves symbolic links; without it, words are taken literally. */
  readonly links?: LinkReader;
  /** Lists folders; without it, only words are checked. */
  readonly trees?: TreeReader;
  /** Asked only in a repository that is quiet. */
  readonly askGit?: AskGit;
  /** For `~`. */
  readonly home?: string;
}

export async function loadCommandReader(options: CommandReaderOptions): Promise<CommandReader> {
  const { readCommand } = await import("./read-command.js");
  return (text) => readCommand(text, options);
}
