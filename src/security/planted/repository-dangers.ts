/**
 * What in a repository makes git run something when a person only looks at it: settings that are not known to do no harm, hooks, and
 * files that lead git to another configuration.
 */
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseConfigText } from "../../system/git/config-text.js";
import { type GitSetting, kindOfSetting } from "../../system/git/harmless-settings.js";
import { plainFile, readIndexFile } from "../../system/git/index-file.js";
import { realpathOrSelf } from "../../system/repository-places.js";
import { isWithin } from "../../system/within.js";

export interface Danger {
  readonly file: string;
  /** Goes on after the name of the file: "sets core.fsmonitor". */
  readonly what: string;
  /** When the file was last changed, in milliseconds; no program can set it back. */
  readonly changed: number;
  readonly isHook?: true;
  /** Setting the file aside ends the danger; for a configuration, these settings can stay. */
  readonly remedy?: { readonly keep: readonly GitSetting[] };
}

export interface Repository {
  /** The folder of its files. Undefined where it lies outside. */
  readonly gitFolder: string | undefined;
  readonly dangers: readonly Danger[];
}

const MAX_CONFIG = 1024 * 1024;
const MAX_NAMES = 5;
const SET_ASIDE = { remedy: { keep: [] } };

/** The repository whose work tree begins in this folder, or that the folder is. `root` is the workspace. */
export function lookAtRepository(folder: string, root: string): Repository {
  const dotGit = join(folder, ".git");
  const found = statOf(dotGit);
  if (found === undefined) return isGitFolder(folder) ? { gitFolder: folder, dangers: dangersIn(folder, root) } : NONE;
  if (found.isDirectory()) return { gitFolder: dotGit, dangers: dangersIn(dotGit, root) };
  const told = found.isSymbolicLink() ? dotGit : /^gitdir: (.+)$/m.exec(textOf(dotGit))?.[1]?.trimEnd();
  if (told === undefined) return NONE;
  const gitFolder = realpathOrSelf(resolve(folder, told));
  if (isWithin(gitFolder, root)) return { gitFolder, dangers: dangersIn(gitFolder, root) };
  // The main repository of a worktree names it in turn, where no command could have written that.
  const back = textOf(join(gitFolder, "gitdir")).trimEnd();
  const isWorktree = back !== "" && realpathOrSelf(resolve(gitFolder, back)) === dotGit;
  const danger = { file: dotGit, what: `leads git to ${gitFolder}`, changed: found.ctimeMs };
  return { gitFolder: undefined, dangers: isWorktree ? [] : [danger] };
}

const NONE: Repository = { gitFolder: undefined, dangers: [] };

function isGitFolder(folder: string): boolean {
  const names = namesIn(folder);
  return names.includes("HEAD") && (names.includes("objects") || names.includes("commondir"));
}

export interface Linked {
  /** Paths from the top of the work tree. */
  readonly paths: readonly string[];
  /** Files of the index that may hold more. */
  readonly dangers: readonly Danger[];
}

/** The repositories in an index, in which git runs by itself. A split index has its entries in several files. */
export class LinkedRepositories {
  readonly #known = new Map<string, { readonly look: string; readonly linked: Linked }>();

  in(gitFolder: string): Linked {
    const names = ["index", ...namesIn(gitFolder).filter((name) => name.startsWith("sharedindex."))];
    const parts = names.map((name) => this.#read(join(gitFolder, name)));
    return { paths: parts.flatMap(({ paths }) => paths), dangers: parts.flatMap(({ dangers }) => dangers) };
  }

  /** An index can be large: it is read again only when it has changed. */
  #read(file: string): Linked {
    const found = statOf(file);
    if (found === undefined) return { paths: [], dangers: [] };
    const look = [found.ino, found.size, found.mtimeMs, found.ctimeMs].join(" ");
    const known = this.#known.get(file);
    if (known?.look === look) return known.linked;
    const content = readIndexFile(file);
    const danger = { file, what: "cannot be understood and may hold repositories", changed: found.ctimeMs };
    const linked =
      content === undefined ? { paths: [], dangers: [danger] } : { paths: content.repositories, dangers: [] };
    this.#known.set(file, { look, linked });
    return linked;
  }
}

function dangersIn(gitFolder: string, root: string): readonly Danger[] {
  return [
    ...commonFolderDangers(gitFolder),
    ...["config", "config.worktree"].flatMap((name) => configDangers(join(gitFolder, name), { gitFolder, root })),
    ...hookDangers(join(gitFolder, "hooks")),
  ];
}

/** A worktree lies in the `worktrees` folder of its main repository; anywhere else the file leads git astray. */
function commonFolderDangers(gitFolder: string): readonly Danger[] {
  const file = join(gitFolder, "commondir");
  const found = statOf(file);
  const told = found?.isFile() ? textOf(file).trimEnd() : undefined;
  if (found === undefined || told === "" || told === ".") return [];
  const isWorktree =
    told !== undefined && realpathOrSelf(resolve(gitFolder, told)) === realpathOrSelf(dirname(dirname(gitFolder)));
  return isWorktree ? [] : [{ file, what: "leads git to another configuration", changed: found.ctimeMs, ...SET_ASIDE }];
}

function configDangers(file: string, place: { readonly gitFolder: string; readonly root: string }): readonly Danger[] {
  const found = statOf(file);
  if (found === undefined) return [];
  const changed = found.ctimeMs;
  if (!found.isFile()) return [{ file, what: "is no plain file", changed, ...SET_ASIDE }];
  const bytes = plainFile(file, MAX_CONFIG);
  const settings = Buffer.isBuffer(bytes) ? parseConfigText(bytes.toString("utf8")) : undefined;
  if (settings === undefined) return [{ file, what: "cannot be understood", changed, ...SET_ASIDE }];
  const keep = settings.filter((setting) => isHarmless(setting, place));
  if (keep.length === settings.length) return [];
  const names = new Set(settings.filter((setting) => !keep.includes(setting)).map(({ name }) => name));
  return [{ file, what: `sets ${[...names].slice(0, MAX_NAMES).join(", ")}`, changed, remedy: { keep } }];
}

function isHarmless(
  setting: GitSetting,
  { gitFolder, root }: { readonly gitFolder: string; readonly root: string },
): boolean {
  const kind = kindOfSetting(setting);
  if (kind === "placing") return isWithin(realpathOrSelf(resolve(gitFolder, setting.value)), root);
  return kind === "harmless" || kind === "fetching";
}

function hookDangers(folder: string): readonly Danger[] {
  const found = statOf(folder);
  if (found === undefined) return [];
  if (!found.isDirectory()) return [{ file: folder, what: "is no plain folder", changed: found.ctimeMs, ...SET_ASIDE }];
  return namesIn(folder)
    .filter((name) => !name.endsWith(".sample"))
    .flatMap((name) => {
      const file = join(folder, name);
      const hook = statOf(file);
      const runs = hook?.isSymbolicLink() || (hook?.isFile() && (hook.mode & 0o111) !== 0);
      return hook && runs
        ? [{ file, what: "is a hook that git runs", changed: hook.ctimeMs, isHook: true, ...SET_ASIDE }]
        : NO_DANGER;
    });
}

const NO_DANGER: readonly Danger[] = [];

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  const bytes = plainFile(path, MAX_CONFIG);
  return Buffer.isBuffer(bytes) ? bytes.toString("utf8") : "";
}
