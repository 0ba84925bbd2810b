/**
 * The files and folders of a workspace that change only with the user's permission, and why: other programs run or obey them outside the
 * sandbox. One list for the file tools, patches, undo and the gate of commands.
 *
 * 1. Names that editors, agents, package managers, shells and version control know (`guarded-names.ts`).
 * 2. Every git folder, also nested ones, ones without a work tree, and one that a change would make (`git-folders.ts`).
 * 3. What the settings of git name (`configured-places.ts`): of the system, of the person, of the repository around the workspace
 *    and of every repository in it. They are read once, and again when one of their files changed.
 * 4. Other names of such files: hard links (`linked-files.ts`), and what symbolic links at guarded names lead to (`link-targets.ts`).
 */
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Clock } from "../../base/clock.js";
import { type GitFolder, gitFolderAround, gitFolderAt } from "../../system/git/git-folder.js";
import type { PersonalSettings } from "../../system/git/personal-settings.js";
import { readSettings, stampOf } from "../../system/git/settings-files.js";
import { isWithin } from "../../system/within.js";
import { type ConfiguredPlace, configuredPlaces, placeOf } from "./configured-places.js";
import { gitFolderReason } from "./git-folders.js";
import { guardedName } from "./guarded-names.js";
import { LinkTargets } from "./link-targets.js";
import { LinkedFiles } from "./linked-files.js";
import type { WorkTreeSearch } from "./work-tree-search.js";

export interface GuardListOptions {
  /** Folders that tools may change, free of links. */
  readonly roots: readonly string[];
  readonly personal: PersonalSettings;
  readonly searches: readonly WorkTreeSearch[];
  readonly clock: Pick<Clock, "now">;
}

/** Beside the configuration of a git folder. */
const OBEYED: readonly string[] = ["hooks", "info", "commondir", "modules"];

interface Known {
  readonly places: readonly ConfiguredPlace[];
  readonly files: readonly string[];
  readonly stamp: string;
  readonly personal: unknown;
}

type Read = (repository: GitFolder) => Known;

export class GuardList {
  readonly #options: GuardListOptions;
  readonly #known = new Map<string, Known>();
  readonly #linked: LinkedFiles;
  readonly #targets: LinkTargets;

  constructor(options: GuardListOptions) {
    this.#options = options;
    const { roots, clock } = options;
    const guarded = () => [...this.#gitFiles(), ...this.#existing()];
    this.#linked = new LinkedFiles({ roots, clock, guarded });
    this.#targets = new LinkTargets({ roots, clock, guarded });
  }

  /** Why a change of this path needs the user; undefined for an ordinary one. Absolute, without links. */
  reason(path: string): string | undefined {
    return this.#reason(path, (repository) => this.#read(repository));
  }

  /** The same for many paths at one time: each repository's settings are looked at once. */
  reasons(): (path: string) => string | undefined {
    const known = new Map<string, Known>();
    const read = (repository: GitFolder) => {
      const found = known.get(repository.top) ?? this.#read(repository);
      known.set(repository.top, found);
      return found;
    };
    return (path) => this.#reason(path, read);
  }

  #reason(path: string, read: Read): string | undefined {
    const root = this.#options.roots.find((folder) => isWithin(path, folder));
    if (root === undefined) return undefined;
    const reason = this.#reasonOf(path, root, read);
    if (reason !== undefined) return reason;
    const about = (other: string) =>
      `${relative(root, other)}: ${this.#reasonOf(other, root, read) ?? "that file is guarded"}`;
    const target = this.#targets.around(path);
    if (target !== undefined) return `it is the target of the symbolic link ${about(target.link)}`;
    const other = this.#linked.sameAs(path);
    return other && `it is another name (a hard link) of ${about(other)}`;
  }

  #reasonOf(path: string, root: string, read: Read): string | undefined {
    const reason = guardedName(relative(root, path).replaceAll("\\", "/")) ?? gitFolderReason(path, root);
    if (reason !== undefined) return reason;
    const place = placeOf(path, this.#configured(path, read));
    return place && `the git setting ${place.setting} names it`;
  }

  #existing(): readonly string[] {
    const configured = this.#placesOf(this.#repositories()).filter(({ only }) => only === undefined);
    const existing = configured.map(({ path }) => path).filter((path) => existsSync(path));
    return [...new Set([...this.#named(), ...existing])];
  }

  /** The files of git folders that git runs or obeys. */
  #gitFiles(): readonly string[] {
    return this.#repositories().flatMap(({ configs }) =>
      configs.flatMap((config) => [config, ...OBEYED.map((name) => join(dirname(config), name))]),
    );
  }

  /** Everything below the roots with a guarded name, except git folders. */
  #named(): readonly string[] {
    return this.#options.searches.flatMap((search) => search.named());
  }

  /** To be called when a turn begins, and after a program changed the folders directly. */
  mayHaveChanged(): void {
    for (const search of this.#options.searches) search.mayHaveChanged();
    this.#targets.mayHaveChanged();
  }

  /** Also those of repositories around the path that no search has found. */
  #configured(path: string, read: Read): readonly ConfiguredPlace[] {
    const around = gitFolderAround(path);
    return this.#placesOf([...this.#repositories(), ...(around === undefined ? [] : [around])], read);
  }

  #repositories(): readonly GitFolder[] {
    const { roots, searches } = this.#options;
    const nested = searches.flatMap((search) => search.find());
    const around = roots.map((root) => gitFolderAround(root) ?? { top: root, configs: [] });
    return [...around, ...nested.flatMap((folder) => gitFolderAt(folder) ?? [])];
  }

  #placesOf(
    repositories: readonly GitFolder[],
    read: Read = (repository) => this.#read(repository),
  ): readonly ConfiguredPlace[] {
    const byTop = new Map(repositories.map((repository) => [repository.top, repository]));
    return [...byTop.values()].flatMap((repository) => read(repository).places);
  }

  #read({ top, configs }: GitFolder): Known {
    const { personal, roots } = this.#options;
    const own = personal.read();
    const known = this.#known.get(top);
    const isFresh = known !== undefined && known.personal === own && stampOf(known.files) === known.stamp;
    if (isFresh && configs.every((file) => known.files.includes(file))) return known;
    const read = readSettings(configs, personal.home);
    const places = configuredPlaces([...own.settings, ...read.settings], { top, home: personal.home, roots });
    const fresh = { places, files: read.files, stamp: read.stamp, personal: own };
    this.#known.set(top, fresh);
    return fresh;
  }
}
