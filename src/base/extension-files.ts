/**
 * Extensions in folders: tools, hooks, commands, skills, agent types and others. The runtime finds the files and checks that the user
 * approved them; the features that load them use only this interface.
 */

export type ExtensionKind =
  | "hook"
  | "tool"
  | "command"
  | "provider"
  | "plugin"
  | "mcp"
  | "event-hooks"
  | "profile"
  | "alias"
  | "prompt"
  | "agent"
  | "skill"
  | "skill-file"
  | "memory";

/** The place where a file was found. A more local scope shadows the others. */
export type ExtensionScope = "built-in" | "user" | "project";

/** One approved file, or one approved entry of a file that lists several. */
export interface ExtensionFile {
  readonly kind: ExtensionKind;
  readonly scope: ExtensionScope;
  /** The absolute path, for messages. */
  readonly path: string;
  /** The part of the file that it is, such as `hooks.PreToolUse`; absent for a whole file. */
  readonly entry?: string;
  /** The folder it was found in, such as `/home/ann/project/.oxbow` or `/home/ann/project/.claude`. */
  readonly source: string;
  /** The path below the folder of its kind, with forward slashes: `assemble/30-rules` for `hooks.d/assemble/30-rules`. */
  readonly name: string;
  /** The name of the plugin whose folder `source` is; it is the namespace of the file. */
  readonly plugin?: string;
  readonly executable: boolean;
  readonly sha256: string;
  /** The approved bytes as text; throws if the file has changed since the approval. */
  read(): Promise<string>;
  /** The path of a private copy of the approved bytes, which runs instead of the original; approved files beside it are copied along. */
  program(): Promise<string>;
  /** The hashes of the program files that an entry starts, by path, as they were when a person approved it; undefined if there are none. */
  pins?(): Readonly<Record<string, string>> | undefined;
}

export interface ExtensionFiles {
  /** All approved files of a kind, the most global first. A reader that needs one per name takes the last. */
  of(kind: ExtensionKind): readonly ExtensionFile[];
  /**
   * Searches again if a folder changed; costs one stat per known folder. `files` also finds files that were changed in place, for one stat
   * each. True if this call found a change; several readers of one object compare `version` instead.
   */
  refresh(depth?: "folders" | "files"): Promise<boolean>;
  /** Counts up with every change. */
  readonly version: number;
}

export const NO_EXTENSIONS: ExtensionFiles = { of: () => [], refresh: async () => false, version: 0 };

/** Makes a text that changes with the files of these kinds. */
export function extensionStamp(extensions: ExtensionFiles, kinds: readonly ExtensionKind[]): string {
  const files = kinds.flatMap((kind) => extensions.of(kind));
  return files.map(({ path, sha256 }) => `${path} ${sha256}`).join("\n");
}
