/**
 * Whether git can look at a work tree without running anything that the repository names.
 *
 * Git runs what its configuration says: filters, text conversions, external diffs, monitors, hooks. What `QUIET_GIT_ENVIRONMENT`
 * cannot switch off by name must not be there:
 *
 * 1. The repository is a plain `.git` folder around or in the workspace, without a second configuration and without submodules,
 *    whose own configuration git would follow.
 * 2. Its configuration holds nothing but settings from a list that name no program, no file and no other repository. A line that is
 *    not understood is not on the list. What a user's own configuration names is the user's.
 * 3. It has no hook that looking could start.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const MAX_CONFIG = 64 * 1024;
const MAX_INDEX = 64 * 1024 * 1024;

/** `folder` must be free of links. */
export function isQuietRepository(folder: string): boolean {
  const git = repositoryAround(folder);
  if (git === undefined || !lstatSync(git).isDirectory()) return false;
  const absent = ["config.worktree", "commondir", "modules", "hooks/post-index-change", "../.gitmodules"];
  if (absent.some((name) => isThere(join(git, name)))) return false;
  const config = contentOf(join(git, "config"), MAX_CONFIG);
  if (config === undefined || !isQuietConfig(config.toString("utf8"))) return false;
  const index = join(git, "index");
  return !isThere(index) || holdsNoSubmodule(contentOf(index, MAX_INDEX));
}

function repositoryAround(folder: string): string | undefined {
  for (let current = folder; ; current = dirname(current)) {
    if (isThere(join(current, ".git"))) return join(current, ".git");
    // Git may take the folder itself for a repository without a work tree.
    if (["HEAD", "objects", "refs"].every((name) => isThere(join(current, name)))) return undefined;
    if (current === dirname(current)) return undefined;
  }
}

const list = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** By section; what has a name in quotes is under the section's own. Keys in lower case. */
const QUIET_SETTINGS: Readonly<Record<string, ReadonlySet<string>>> = {
  core: list(
    "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf protecthfs " +
      "protectntfs untrackedcache quotepath preloadindex abbrev whitespace checkstat longpaths trustctime",
  ),
  remote: list("url fetch pushurl push tagopt prune prunetags mirror skipfetchall gh-resolved"),
  branch: list("remote merge rebase pushremote description autosetuprebase vscode-merge-base gh-merge-base"),
  user: list("name email signingkey useconfigonly"),
  author: list("name email"),
  committer: list("name email"),
  init: list("defaultbranch"),
  pull: list("rebase ff"),
  push: list("default followtags autosetupremote"),
  fetch: list("prune prunetags"),
  merge: list("conflictstyle ff"),
  rebase: list("autostash autosquash updaterefs"),
  commit: list("gpgsign verbose"),
  tag: list("gpgsign sort"),
  status: list("showuntrackedfiles short branch relativepaths"),
  diff: list("algorithm renames renamelimit mnemonicprefix noprefix colormoved context"),
  log: list("date decorate abbrevcommit"),
  color: list("ui status diff branch"),
  gc: list("auto autodetach"),
  rerere: list("enabled autoupdate"),
  advice: list("detachedhead skippedcherrypicks addignoredfile statushints"),
  lfs: list("repositoryformatversion"),
};
/** Where a part in quotes only names a remote or a branch. */
const NAMED = new Set(["remote", "branch"]);

export function isQuietConfig(text: string): boolean {
  let allowed: ReadonlySet<string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]*(?:[#;].*)?$/.test(line)) continue;
    const section = /^[ \t]*\[([a-z]+)(?: "([^"\\]*)")?\][ \t]*$/i.exec(line);
    if (section !== null) {
      const name = (section[1] ?? "").toLowerCase();
      allowed = Object.hasOwn(QUIET_SETTINGS, name) ? QUIET_SETTINGS[name] : undefined;
      if (allowed === undefined || (section[2] !== undefined && !NAMED.has(name))) return false;
      continue;
    }
    // A value may go on in the next line, after a backslash or within quotes: no plain setting does.
    const setting = /^[ \t]*([a-z][a-z0-9-]*)[ \t]*(?:=[ \t]*([^"\\]*))?$/i.exec(line);
    const key = setting?.[1]?.toLowerCase();
    if (setting === null || key === undefined || allowed?.has(key) !== true) return false;
    if (key === "bare" && setting[2]?.trim() !== "false") return false;
  }
  return true;
}

/** The mode of a submodule in the index. The bytes may stand for something else: then it is only asked. */
const SUBMODULE = Buffer.from([0x00, 0x00, 0xe0, 0x00]);

function holdsNoSubmodule(index: Buffer | undefined): boolean {
  return index !== undefined && !index.includes(SUBMODULE);
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Of a plain file; undefined for anything else. */
function contentOf(path: string, limit: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= limit ? readFileSync(fd) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
