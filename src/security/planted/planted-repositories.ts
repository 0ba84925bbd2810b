/**
 * Repositories that sandboxed commands leave behind, with programs that the person's own git would run. While a command runs, the
 * hooks and configurations of existing repositories are guarded; a repository that the command makes is not. Oxbow therefore searches for
 * new repositories when a command has ended and, while one runs in the background, at the end of the turn.
 *
 * 1. A file from before the first command belongs to the person, also when it is dangerous.
 * 2. A new file is moved aside if its repository is new too, and Oxbow tells the user in any case, with the file. In an older
 *    repository the person may have changed it.
 * 3. The repository at the top of the workspace is guarded always. The repositories in its index are not: git enters them by itself.
 * 4. Other files that programs of the person run or obey are found on the same walk (`guarded-arrivals.ts`).
 */
import { join } from "node:path";
import { configText } from "../../system/git/config-text.js";
import { statOf } from "../../system/git/git-folder.js";
import { LinkedRepositories } from "../../system/git/linked-repositories.js";
import { RepositoryWalk } from "../../system/git/repository-walk.js";
import type { HeldPlaces } from "../sandbox/sandbox-options.js";
import { shown } from "../trust/shown.js";
import type { CommandSpans } from "./command-spans.js";
import { arrivalText, GuardedArrivals, type WalkedFolders } from "./guarded-arrivals.js";
import { OwnHooks } from "./own-hooks.js";
import { type Danger, lookAtRepository } from "./repository-dangers.js";
import { setAside } from "./set-aside.js";
import { WatchRecord } from "./watch-record.js";

export interface PlantedRepositoriesOptions {
  /** The workspace, free of links. */
  readonly root: string;
  readonly notify: (message: string) => void;
  /** When commands ran in it. */
  readonly spans: CommandSpans;
  /** Receives what the model has to know as well. */
  readonly notifyModel?: (message: string) => void;
  /** The folder of the notes that say that commands run. */
  readonly folder: string;
  /** The person's environment: git finds their configuration by it. */
  readonly environment: Readonly<Record<string, string>>;
}

interface Found extends Danger {
  /** The folder of the repository. */
  readonly folder: string;
  /** Its repository is in the index of another one, and git enters it by itself. */
  readonly linked: boolean;
}

interface Collection {
  readonly found: readonly Found[];
  readonly folders: ReadonlySet<string>;
  readonly complete: boolean;
  readonly walked: WalkedFolders;
}

interface Visit {
  readonly folder: string;
  readonly linked: boolean;
  readonly depth: number;
}

/** File times are coarse and may lag a little. */
const TICK_MS = 50;
const MAX_FOLDERS = 100_000;
/** Packages first, then what is in them: a look at so many takes about 10 ms when nothing changed. */
const MAX_MODULE_FOLDERS = 4000;
const MAX_DEPTH = 20;
const MAX_LISTED = 5;

export class PlantedRepositories {
  readonly #options: PlantedRepositoriesOptions;
  readonly #walk: RepositoryWalk<readonly string[]>;
  readonly #arrivals: GuardedArrivals;
  readonly #record: WatchRecord;
  readonly #ownHooks: OwnHooks;
  readonly #linked = new LinkedRepositories();
  readonly #known = new Set<string>();
  /** Repositories that were there before the first command. */
  readonly #older = new Set<string>();
  #begun: Promise<void> | undefined;
  #startedAt = 0;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: PlantedRepositoriesOptions) {
    this.#options = options;
    this.#arrivals = new GuardedArrivals(options.root, options.spans);
    const { note } = this.#arrivals;
    const wall = () => Date.now();
    const limits = { maxFolders: MAX_FOLDERS, maxModuleFolders: MAX_MODULE_FOLDERS };
    this.#walk = new RepositoryWalk(options.root, { wall, ...limits, closed: "opened", note });
    this.#record = new WatchRecord(options.folder, options.root);
    this.#ownHooks = new OwnHooks(options);
  }

  /** Before the first command starts. It need not be awaited: what changes from now on does not count as known. */
  begin(): Promise<void> {
    if (this.#begun === undefined) {
      this.#startedAt = this.#record.take(Date.now() - TICK_MS);
      this.#begun = this.#collect().then(({ found, folders, walked }) => {
        this.#arrivals.begin(walked, this.#startedAt);
        for (const folder of folders) if (isOlder(folder, this.#startedAt)) this.#older.add(folder);
        for (const danger of found) if (danger.changed < this.#startedAt) this.#known.add(keyOf(danger));
      });
    }
    return this.#begun;
  }

  /** What is known of the workspace when a command starts. */
  remember(places: HeldPlaces): void {
    this.#arrivals.remember(places);
  }

  /** Scans now. If a scan runs already, it may have passed a folder that has just changed, so another one follows. */
  look(): Promise<void> {
    if (this.#begun === undefined) return Promise.resolve();
    if (this.#running === undefined) {
      this.#running = this.#look().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.look();
    });
    return this.#next;
  }

  /** Resolves when the requested scans are done. */
  async flush(): Promise<void> {
    await (this.#next ?? this.#running);
  }

  /** No command runs any more. */
  async close(): Promise<void> {
    await this.look();
    await this.flush();
    this.#record.remove();
  }

  async #look(): Promise<void> {
    await this.#begun;
    const { found, complete, walked } = await this.#collect();
    const arrivals = this.#arrivals.look(walked);
    if (arrivals.length > 0) this.#notify(arrivalText(arrivals));
    const lines = found
      .filter((danger) => !this.#known.has(keyOf(danger)) && !(danger.isHook && this.#ownHooks.isCopy(danger.file)))
      .map((danger) => this.#dealWith(danger));
    if (!complete && !this.#known.has("incomplete")) {
      this.#known.add("incomplete");
      lines.push(
        "Oxbow did not check every folder for new repositories and guarded names: there are too many, or their names are not UTF-8.",
      );
    }
    if (lines.length === 0) return;
    const more = lines.length > MAX_LISTED ? [`… and ${lines.length - MAX_LISTED} more.`] : [];
    const head =
      "A command left files that git would run or read outside the sandbox. Check them before you use git there:";
    this.#notify([head, ...lines.slice(0, MAX_LISTED), ...more].join("\n  "));
  }

  #notify(message: string): void {
    this.#options.notify(message);
    this.#options.notifyModel?.(message);
  }

  #dealWith(danger: Found): string {
    this.#known.add(keyOf(danger));
    const { file, what, linked, changed, folder } = danger;
    const isNew = changed >= this.#startedAt && !this.#older.has(folder);
    const aside = isNew ? this.#setAside(danger) : undefined;
    const entered = linked ? "; `git status` enters this repository by itself" : "";
    // A command chose these names.
    return shown(`${file} ${what}${entered}.${aside === undefined ? "" : ` It is set aside as ${aside}.`}`);
  }

  #setAside({ file, remedy }: Danger): string | undefined {
    if (remedy === undefined) return undefined;
    const { root } = this.#options;
    return setAside(file, { root, ...(remedy.keep.length > 0 && { replacement: configText(remedy.keep) }) });
  }

  async #collect(): Promise<Collection> {
    const { root } = this.#options;
    const walked = await this.#walk.inSlices();
    const { repositories, complete } = walked;
    const found = new Map<string, Found>();
    const add = (danger: Found) => {
      if (found.get(danger.file)?.linked !== true) found.set(danger.file, danger);
    };
    const seen = new Set<string>();
    const visited = new Set<string>();
    const visit = ({ folder, linked, depth }: Visit) => {
      const mark = `${linked} ${folder}`;
      if (seen.has(mark) || depth > MAX_DEPTH) return;
      seen.add(mark);
      visited.add(folder);
      const { gitFolder, dangers } = lookAtRepository(folder, root);
      if (folder !== root) for (const danger of dangers) add({ ...danger, folder, linked });
      if (gitFolder === undefined || gitFolder === folder) return;
      const inner = this.#linked.in(gitFolder);
      for (const file of inner.obscure) add({ ...obscureIndex(file), folder, linked });
      for (const path of inner.paths) visit({ folder: join(folder, path), linked: true, depth: depth + 1 });
    };
    for (const folder of repositories) visit({ folder, linked: false, depth: 0 });
    return { found: [...found.values()], folders: visited, complete, walked };
  }
}

function keyOf({ file, what, changed, linked }: Found): string {
  return JSON.stringify([file, what, changed, linked]);
}

function obscureIndex(file: string): Danger {
  return {
    file,
    what: "is not in a form that Oxbow knows, and may hold repositories",
    changed: statOf(file)?.ctimeMs ?? 0,
  };
}

function isOlder(folder: string, time: number): boolean {
  const found = statOf(join(folder, ".git")) ?? statOf(folder);
  // Work in a repository changes its folder, but not its creation time; not every file system has one.
  return found !== undefined && Math.min(found.ctimeMs, found.birthtimeMs || found.ctimeMs) < time;
}
