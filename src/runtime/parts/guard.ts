/** The guard list of one run, for the file tools, the permissions and undo. Loaded with the first call that needs it. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { GuardList } from "../../security/guard-list/guard-list.js";
import type { OwnFiles } from "../../security/guard-list/own-files.js";
import { nodeClock } from "../../system/node-clock.js";
import { MOST_PATH, realpathSoFar } from "../../system/real-path.js";
import type { FoundEntry, PathGuard } from "../../tools/workspace.js";

export interface RunGuardOptions {
  /** Without links. */
  readonly root: string;
  /** Folders that are used like the workspace, without links. After a change: `forget`. */
  readonly extraRoots?: readonly string[];
  readonly variables: Variables;
  readonly ownFolders: readonly string[];
  /** A folder in them that the model may read. */
  readonly outputDirectory?: string;
}

interface Lists {
  readonly guarded: GuardList;
  readonly own: OwnFiles;
}

export class RunGuard implements PathGuard {
  readonly #options: RunGuardOptions;
  #lists: Promise<Lists> | undefined;

  constructor(options: RunGuardOptions) {
    this.#options = options;
  }

  /** The folders are others: the next question reads them again. */
  forget(): void {
    this.#lists = undefined;
  }

  async reason(absolute: string): Promise<string | undefined> {
    // A model or a client chooses its length, and each folder above is looked at.
    const path = resolve(absolute);
    return path.length > MOST_PATH ? undefined : (await this.#load()).guarded.reason(path);
  }

  /** The same for many paths at one time. */
  async reasons(): Promise<(path: string) => string | undefined> {
    return (await this.#load()).guarded.reasons();
  }

  /** The same for a path that may contain links. */
  async reasonBehindLinks(path: string): Promise<string | undefined> {
    return (await this.reason(path)) ?? (await this.reason(realpathSoFar(path)));
  }

  async isOwn(path: string, found?: FoundEntry): Promise<boolean> {
    return (await this.#load()).own.has(path, found);
  }

  #load(): Promise<Lists> {
    this.#lists ??= this.#open();
    return this.#lists;
  }

  async #open(): Promise<Lists> {
    const [{ GuardList }, { OwnFiles }] = await Promise.all([
      import("../../security/guard-list/guard-list.js"),
      import("../../security/guard-list/own-files.js"),
    ]);
    const { root, extraRoots = [], variables, ownFolders, outputDirectory } = this.#options;
    const except = outputDirectory === undefined ? [] : [outputDirectory];
    return {
      guarded: new GuardList({
        roots: [root, ...extraRoots],
        variables,
        home: variables.HOME || homedir(),
        clock: nodeClock,
      }),
      own: new OwnFiles({ folders: ownFolders, except, now: () => nodeClock.now() }),
    };
  }
}
