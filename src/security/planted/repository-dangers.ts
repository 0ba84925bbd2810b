/**
 * What in a repository makes git run a program when the user only reads it: settings that are not known to do no harm, hooks, and
 * files that lead git to another configuration.
 */
import { dirname, join, resolve } from "node:path";
import { parseConfigText } from "../../system/git/config-text.js";
import { isGitFolder, isWorktreeAt, namedCommonFolder, namedGitFolder, statOf } from "../../system/git/git-folder.js";
import { type GitSetting, kindOfSetting } from "../../system/git/harmless-settings.js";
import { plainFile } from "../../system/git/plain-file.js";
import { namesIn } from "../../system/names-in.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";

export interface Danger {
  readonly file: string;
  /** Follows the name of the file: "sets core.fsmonitor". */
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
  const named = found.isSymbolicLink() ? dotGit : namedGitFolder(dotGit);
  if (named === undefined) return NONE;
  const gitFolder = realpathOrSelf(named);
  if (isWithin(gitFolder, root)) return { gitFolder, dangers: dangersIn(gitFolder, root) };
  const danger = { file: dotGit, what: `leads git to ${gitFolder}`, changed: found.ctimeMs };
  return { gitFolder: undefined, dangers: isWorktreeAt(dotGit, gitFolder) ? [] : [danger] };
}

const NONE: Repository = { gitFolder: undefined, dangers: [] };

function dangersIn(gitFolder: string, root: string): readonly Danger[] {
  return [
    ...commonFolderDangers(gitFolder),
    ...["config", "config.worktree"].flatMap((name) => configDangers(join(gitFolder, name), { gitFolder, root })),
    ...hookDangers(join(gitFolder, "hooks")),
  ];
}

/** A worktree lies in the `worktrees` folder of its main repository; anywhere else the file leads git to another repository. */
function commonFolderDangers(gitFolder: string): readonly Danger[] {
  const file = join(gitFolder, "commondir");
  const found = statOf(file);
  if (found === undefined || (found.isFile() && found.size === 0)) return [];
  const common = found.isFile() ? namedCommonFolder(gitFolder) : undefined;
  const isUsual =
    common === gitFolder || (common && realpathOrSelf(common)) === realpathOrSelf(dirname(dirname(gitFolder)));
  return isUsual ? [] : [{ file, what: "leads git to another configuration", changed: found.ctimeMs, ...SET_ASIDE }];
}

function configDangers(file: string, place: { readonly gitFolder: string; readonly root: string }): readonly Danger[] {
  const found = statOf(file);
  if (found === undefined) return [];
  const changed = found.ctimeMs;
  if (!found.isFile()) return [{ file, what: "is not a plain file", changed, ...SET_ASIDE }];
  const bytes = plainFile(file, MAX_CONFIG);
  const settings = Buffer.isBuffer(bytes) ? parseConfigText(bytes.toString("utf8")) : undefined;
  if (settings === undefined) return [{ file, what: "is not in a form that Oxbow knows", changed, ...SET_ASIDE }];
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
  if (!found.isDirectory())
    return [{ file: folder, what: "is not a plain folder", changed: found.ctimeMs, ...SET_ASIDE }];
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
