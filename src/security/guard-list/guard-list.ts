/**
 * The files and folders of a workspace that change only with the user's permission, and why: other programs run or obey them outside the
 * sandbox. One list for the file tools, patches, undo and the gate of commands.
 *
 * 1. Names that editors, agents, package managers, shells and version control know (`guarded-names.ts`).
 * 2. Every git folder, also nested ones, ones without a work tree, and one that a change would make (`git-folders.ts`).
 * 3. What the settings of git name (`configured-places.ts`): of the system, of the person, and of the repositories around the path and
 *    around the workspace. They are read once, and again when one of their files changed.
 * 4. What symbolic links lead to (`link-targets.ts`) that are in those git folders or have a guarded name at the top of the workspace.
 *
 * Every writer replaces a file: a change through a hard link reaches no other name.
 */
import { dirname, join, relative } from "node:path";
import type { Clock } from "../../base/clock.js";
import { currentFolder, findProgram } from "../../system/find-program.js";
import { type GitFolder, gitFolderAround, isThere } from "../../system/git/git-folder.js";
import { PersonalSettings } from "../../system/git/personal-settings.js";
import { readSettings, stampOf } from "../../system/git/settings-files.js";
import { namesIn } from "../../system/names-in.js";
import { isWithin } from "../../system/within.js";
import { type ConfiguredPlace, configuredPlaces, placeOf } from "./configured-places.js";
import { gitFolderReason } from "./git-folders.js";
import { guardedEntries, guardedName } from "./guarded-names.js";
import { type LinkTarget, linkTargets } from "./link-targets.js";

export interface GuardListOptions {
  /** Folders that may be changed, the workspace first: free of links. */
  readonly roots: readonly string[];
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, "now">;
}

/** Beside the configuration of a git folder. */
const OBEYED: readonly string[] = ["hooks", "info", "commondir", "modules"];
const FRESH_MS = 1000;

interface Known {
  readonly places: readonly ConfiguredPlace[];
  readonly files: readonly string[];
  readonly stamp: string;
  readonly personal: unknown;
}

type Read = (repository: GitFolder) => Known;

export class GuardList {
  readonly #options: GuardListOptions;
  readonly #personal: PersonalSettings;
  readonly #known = new Map<string, Known>();
  #targets: { readonly found: readonly LinkTarget[]; readonly until: number } | undefined;

  constructor(options: GuardListOptions) {
    this.#options = options;
    const { roots, home, variables } = options;
    const program = findProgram("git", variables.PATH, { outside: roots[0] ?? currentFolder() });
    this.#personal = new PersonalSettings({ program, home, variables });
  }

  /** Tells why a change of this path needs the user; undefined for an ordinary one. Absolute, without links. */
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
    const target = this.#linkTargets(read).find((each) => isWithin(path, each.path));
    if (target === undefined) return undefined;
    const { link } = target;
    const why = this.#reasonOf(link, root, read) ?? "that file is guarded";
    return `it is the target of the symbolic link ${relative(root, link)}: ${why}`;
  }

  #reasonOf(path: string, root: string, read: Read): string | undefined {
    const reason = guardedName(relative(root, path).replaceAll("\\", "/")) ?? gitFolderReason(path, root);
    if (reason !== undefined) return reason;
    const around = gitFolderAround(path);
    const repositories = [...this.#repositories(), ...(around === undefined ? [] : [around])];
    const place = placeOf(path, this.#placesOf(repositories, read));
    return place && `the git setting ${place.setting} names it`;
  }

  #linkTargets(read: Read): readonly LinkTarget[] {
    const { clock, roots } = this.#options;
    if (this.#targets !== undefined && clock.now() < this.#targets.until) return this.#targets.found;
    const repositories = this.#repositories();
    const ofGit = repositories.flatMap(({ configs }) =>
      configs.flatMap((config) => [config, ...OBEYED.map((name) => join(dirname(config), name))]),
    );
    const named = roots.flatMap((root) => guardedEntries("", namesIn(root)).map((name) => join(root, name)));
    const configured = this.#placesOf(repositories, read).flatMap(({ only, path }) =>
      only === undefined ? [path] : [],
    );
    const places = [...named.filter((path) => !path.endsWith("/.git")), ...configured.filter(isThere)];
    const found = linkTargets([...ofGit, ...new Set(places)], roots);
    this.#targets = { found, until: clock.now() + FRESH_MS };
    return found;
  }

  #repositories(): readonly GitFolder[] {
    return this.#options.roots.map((root) => gitFolderAround(root) ?? { top: root, configs: [] });
  }

  #placesOf(repositories: readonly GitFolder[], read: Read): readonly ConfiguredPlace[] {
    const byTop = new Map(repositories.map((repository) => [repository.top, repository]));
    return [...byTop.values()].flatMap((repository) => read(repository).places);
  }

  #read({ top, configs }: GitFolder): Known {
    const { home, roots } = this.#options;
    const own = this.#personal.read();
    const known = this.#known.get(top);
    const isFresh = known !== undefined && known.personal === own && stampOf(known.files) === known.stamp;
    if (isFresh && configs.every((file) => known.files.includes(file))) return known;
    const read = readSettings(configs, home);
    const places = configuredPlaces([...own.settings, ...read.settings], { top, home, roots });
    const fresh = { places, files: read.files, stamp: read.stamp, personal: own };
    this.#known.set(top, fresh);
    return fresh;
  }
}
