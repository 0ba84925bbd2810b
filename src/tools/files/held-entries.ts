/**
 * Works in a folder that stays open: each entry is reached through the open folder, so swapping the folder meanwhile has no effect.
 */
import { chmod, mkdir, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Admission } from "./admission.js";
import type { Announcer } from "./change-observer.js";
import { HeldDirectory } from "./held-directory.js";
import type { FoundEntry } from "./path-guard.js";
import type { PathResolver, ResolvedPath } from "./path-resolver.js";
import { printable, shown } from "./printable.js";
import { errnoOf, withWorkspaceErrors } from "./workspace-error.js";

/** An entry of a folder that stays open. */
export interface HeldEntry {
  /** The path to open it. */
  readonly at: string;
  /** Refuses a change that needs the user's yes, or whose folder has moved. */
  admit(found?: FoundEntry): Promise<void>;
}

export interface HeldEntriesOptions {
  readonly paths: PathResolver;
  readonly announce: Announcer;
  readonly admission: Admission;
  /** For new folders; absent: that of this process. */
  readonly umask?: number | undefined;
}

export class HeldEntries {
  readonly #options: HeldEntriesOptions;

  constructor(options: HeldEntriesOptions) {
    this.#options = options;
  }

  /** Creates missing parent folders, and keeps the last one open while `action` works in it. */
  async inFolderOf<T>(place: ResolvedPath, action: (entry: HeldEntry) => Promise<T>): Promise<T> {
    const held = await withWorkspaceErrors(shown(place), () => this.#holdFolder(dirname(place.absolute)));
    const { absolute } = place;
    const admit = async (found?: FoundEntry) => {
      await this.#options.admission.toChange({ absolute, shown: shown(place), found });
      await held.confirm();
    };
    try {
      return await action({ at: held.at(basename(absolute)), admit });
    } finally {
      await held.close();
    }
  }

  /** Checks everything below a folder that is moved. */
  async admitBelow(source: ResolvedPath, target: ResolvedPath): Promise<void> {
    const names = await withWorkspaceErrors(shown(source), () => readdir(source.absolute, { recursive: true }));
    for (const name of names) {
      for (const { absolute } of [source, target]) {
        const below = join(absolute, name);
        await this.#options.admission.toChange({
          absolute: below,
          shown: printable(this.#options.paths.display(below)),
        });
      }
    }
  }

  async #makeFolder(at: string): Promise<void> {
    const { umask } = this.#options;
    const made = await mkdir(at).then(() => true, ignoreExisting);
    if (made && umask !== undefined) await chmod(at, 0o777 & ~umask);
  }

  async #holdFolder(folder: string): Promise<HeldDirectory> {
    try {
      return await HeldDirectory.open(folder, printable(this.#options.paths.display(folder)));
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" || this.#options.paths.roots.includes(folder)) throw error;
    }
    const parent = await this.#holdFolder(dirname(folder));
    try {
      const after = { kind: "folder", mode: undefined } as const;
      const opened = { absolute: folder, shown: printable(this.#options.paths.display(folder)) };
      await this.#options.admission.toMakeFolder(opened);
      await this.#options.announce.change(opened.shown, { absolute: folder, before: undefined, after });
      await this.#options.admission.toMakeFolder(opened);
      await parent.confirm();
      await this.#makeFolder(parent.at(basename(folder)));
      return await parent.descend(basename(folder), folder, printable(this.#options.paths.display(folder)));
    } finally {
      await parent.close();
    }
  }
}

function ignoreExisting(error: unknown): void {
  if (errnoOf(error) !== "EEXIST") throw error;
}
