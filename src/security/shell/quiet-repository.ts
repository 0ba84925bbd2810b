/**
 * Decides whether git can read a work tree without running anything that the repository names.
 *
 * Git runs what its configuration says: filters, text conversions, external diffs, monitors, hooks. What `QUIET_GIT_ENVIRONMENT`
 * cannot switch off by name must not be there:
 *
 * 1. The repository is a plain `.git` folder around or in the workspace, without submodules, whose own configuration git
 *    would follow. An index that is not understood may hold submodules.
 * 2. Its configuration holds nothing but settings that are known to do no harm. A file that it includes counts as harm.
 * 3. Nothing in the person's own configuration leads back into the repository (`user-git-settings.ts`).
 * 4. It has no hook that a reading command could start.
 *
 * Empty files and folders mean nothing to git. The sandbox puts them where a command must not create anything.
 *
 * Only files are read. No program starts, because a call is decided by this.
 */
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram } from "../../system/find-program.js";
import { parseConfigText } from "../../system/git/config-text.js";
import { mayBeGitFolder, mayBeThere } from "../../system/git/git-folder.js";
import { type GitSetting, kindOfSetting } from "../../system/git/harmless-settings.js";
import { isWhole, readIndexFile } from "../../system/git/index-file.js";
import { PersonalSettings } from "../../system/git/personal-settings.js";
import { plainFile, textIfReadable } from "../../system/git/plain-file.js";
import type { ListedSetting } from "../../system/git/settings-files.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { misplacedPart } from "../../system/repository-places.js";
import { isWithin } from "../../system/within.js";
import { mayRunRepository } from "./user-git-settings.js";

const MAX_CONFIG = 64 * 1024;

export interface QuietRepositoryOptions {
  /** The whole environment of the commands. */
  readonly environment: Readonly<Record<string, string>>;
}

/** `folder` must be free of links. */
export function isQuietRepository(folder: string, { environment }: QuietRepositoryOptions): boolean {
  const git = repositoryAround(folder);
  if (git === undefined || !lstatSync(git).isDirectory()) return false;
  const top = dirname(git);
  if (!isMeaningless(join(git, "commondir"), /^\.?\n?$/)) return false;
  if (["modules", "../.gitmodules"].some((name) => !isMeaningless(join(git, name), /^$/))) return false;
  if (!mayBeThere(join(git, "config"))) return false;
  const own = ["config", "config.worktree"].map((name) => quietSettings(join(git, name)));
  if (own.includes(undefined)) return false;
  const places = { root: folder, top, gitDirectory: git, common: git, workTreeSetting: undefined };
  if (misplacedPart(places) !== undefined) return false;
  const index = readIndexFile(join(git, "index"));
  if (index === undefined || !isWhole(index) || index.repositories.length > 0) return false;
  const ofPerson = personalSettings(folder, { environment, top });
  if (ofPerson === undefined) return false;
  const isQuiet = (setting: ListedSetting) => setting.owner !== "repository" || isQuietSetting(setting);
  const settings = [...ofPerson, ...own.flatMap((each) => each ?? [])];
  return settings.every(isQuiet) && !mayRunRepository(settings, { workspace: folder, top, home: environment.HOME });
}

/** The settings of the person and of the machine; undefined if a file of theirs cannot be read. */
function personalSettings(
  folder: string,
  { environment, top }: QuietRepositoryOptions & { readonly top: string },
): readonly ListedSetting[] | undefined {
  const program = findProgram("git", environment.PATH, { outside: folder });
  const personal = new PersonalSettings({ program, home: environment.HOME || "/", variables: environment });
  const { settings, files } = personal.read();
  if (files.some((file) => textIfReadable(file) === undefined && mayBeThere(file))) return undefined;
  return settings.map((setting): ListedSetting => {
    if (setting.file === undefined) return { ...setting, owner: "command" };
    // A repository may have supplied a file of the work tree that the person's settings include.
    const isOfRepository = [setting.file, realpathOrSelf(setting.file)].some((path) => isWithin(path, top));
    return { ...setting, owner: isOfRepository ? "repository" : "user" };
  });
}

function repositoryAround(folder: string): string | undefined {
  for (let current = folder; ; current = dirname(current)) {
    if (mayBeThere(join(current, ".git"))) return join(current, ".git");
    // Git may take the folder itself for a repository without a work tree.
    if (mayBeGitFolder((name) => mayBeThere(join(current, name)))) return undefined;
    if (current === dirname(current)) return undefined;
  }
}

/** The settings of a file of the repository; undefined if one is not quiet. The second file of a worktree usually does not exist. */
function quietSettings(path: string): readonly ListedSetting[] | undefined {
  const config = plainFile(path, MAX_CONFIG);
  if (config === "missing") return [];
  const settings = config && parseConfigText(config.toString("utf8"));
  if (!settings?.every(isQuietSetting)) return undefined;
  return settings.map((setting) => ({ ...setting, file: path, owner: "repository" }));
}

export function isQuietConfig(text: string): boolean {
  const settings = parseConfigText(text);
  return settings?.every(isQuietSetting) === true;
}

/** Hooks are checked when the whole configuration is known. */
function isQuietSetting(setting: GitSetting): boolean {
  if (setting.name === "core.bare") return setting.value === "false";
  return ["harmless", "hooks"].includes(kindOfSetting(setting));
}

/** Missing, an empty folder, or a file with nothing in it but this. */
function isMeaningless(path: string, content: RegExp): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return readdirSync(path).length === 0;
    const text = plainFile(path, MAX_CONFIG);
    return text === "missing" || (text !== undefined && content.test(text.toString("latin1")));
  } catch {
    return false;
  }
}
