/**
 * Checks a repository before git may work in it. A repository is untrusted data: its configuration can name programs to run and
 * files to read in many places, and its files can point to other repositories.
 *
 * 1. A repository is refused if its configuration, as git lists it, has a setting that is not known to be harmless. Overriding such
 *    settings one by one is not enough: some are lists, and newer versions of git add others.
 * 2. The user's own configuration is not used, because its programs would process the repository's files. Settings that only change
 *    how git reads and shows things are passed by name.
 * 3. The repository belongs to the workspace (`system/repository-places.ts` says when).
 */
import { dirname, join, relative, resolve } from "node:path";
import { kindOfSetting, partsOf } from "../../system/git/harmless-settings.js";
import { LIST_SETTINGS, type ListedSetting, parseListing } from "../../system/git/listed-settings.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isFile, misplacedPart, type RepositoryPlaces, realPlaces } from "../../system/repository-places.js";
import { isWithin } from "../../system/within.js";

/** Runs git with these arguments and gives its stdout; throws with git's own message. */
export type RunGit = (args: readonly string[]) => Promise<string>;

export interface VettedRepository {
  readonly top: string;
  readonly gitDirectory: string;
  /** `-c` settings to put before the action. */
  readonly settings: readonly string[];
  /** Paths outside the workspace that git must read. */
  readonly readable: readonly string[];
}

export interface RepositoryOwner {
  /** The user's home folder and settings folder, if they are known. */
  readonly home: string | undefined;
  readonly configHome: string | undefined;
}

export class UnsafeRepositoryError extends Error {}

/** Highest in precedence. They switch off what git does automatically; a repository with other settings is refused. */
const FIXED_SETTINGS: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "core.quotePath": "false",
  "diff.submodule": "short",
  "diff.ignoreSubmodules": "dirty",
  "status.submoduleSummary": "false",
  "submodule.recurse": "false",
  "log.showSignature": "false",
  "log.diffMerges": "separate",
  "protocol.allow": "never",
  "safe.bareRepository": "explicit",
  "color.ui": "false",
  "color.status": "false",
  "column.status": "never",
  "i18n.logOutputEncoding": "UTF-8",
};

/** For git itself, beside the child environment. */
export const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  GIT_NO_LAZY_FETCH: "1",
  // Overrides every protocol setting of the repository; a partial clone must not fetch missing objects.
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TRACE2: "0",
  GIT_TRACE2_PERF: "0",
  GIT_TRACE2_EVENT: "0",
  LC_ALL: "C.UTF-8",
};

/** Hides the user's own configuration. Older versions of git find it only through HOME. */
export const ACTION_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  HOME: "/dev/null",
  XDG_CONFIG_HOME: "/dev/null",
};

export const BASE_SETTINGS: readonly string[] = asOptions(Object.entries(FIXED_SETTINGS));

export async function vetRepository(root: string, owner: RepositoryOwner, git: RunGit): Promise<VettedRepository> {
  const [paths, listing] = await Promise.all([
    git(["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"]),
    git(LIST_SETTINGS),
  ]);
  const [top, gitDirectory, common, ...rest] = paths.trimEnd().split("\n");
  if (top === undefined || gitDirectory === undefined || common === undefined || rest.length > 0) {
    throw new UnsafeRepositoryError("Git reports the repository's folders in a form that this tool cannot read.");
  }
  const settings = parseListing(listing, { top, workspace: root });
  const workTreeSetting = settings.findLast(({ name }) => name === "core.worktree")?.value;
  const places = realPlaces({ root, top, gitDirectory, common, workTreeSetting });
  const misplaced = misplacedPart(places);
  if (misplaced !== undefined) {
    throw new UnsafeRepositoryError(
      `This repository is refused: ${misplaced} lies outside the workspace and does not belong to it. Use bash if you need it.`,
    );
  }
  for (const setting of settings) if (setting.owner === "repository") checkSetting(setting, places);
  const excludes = excludesFile(settings, { root, ...owner });
  return {
    top: places.top,
    gitDirectory: places.gitDirectory,
    settings: [
      ...asOptions(carried(settings)),
      ...asOptions(excludes === undefined ? [] : [["core.excludesFile", excludes]]),
      ...BASE_SETTINGS,
    ],
    readable: [...outsideParts(places), ...(excludes === undefined ? [] : [excludes])],
  };
}

function checkSetting(setting: ListedSetting, { root, top }: RepositoryPlaces): void {
  const kind = kindOfSetting(setting);
  if (
    kind === "unknown" ||
    kind === "mentioning" ||
    (kind === "hooks" && !isWithin(resolve(top, setting.value), top))
  ) {
    const file = setting.file === undefined ? "" : ` in ${shownPath(setting.file, root)}`;
    throw new UnsafeRepositoryError(
      `This repository is refused: its configuration sets ${setting.name}${file}, which may name a program or a file. ` +
        "Run git with bash instead, which asks the user, or ask the user to remove the setting.",
    );
  }
}

function shownPath(file: string, root: string): string {
  const path = realpathOrSelf(file);
  return isWithin(path, root) ? relative(root, path) : path;
}

const CARRIED_SECTIONS = new Set(["core", "diff", "log", "status", "blame", "i18n"]);

/** The user's settings for line endings and display. */
function carried(settings: readonly ListedSetting[]): (readonly [string, string])[] {
  return settings
    .filter(({ owner, name }) => owner === "user" && !name.includes("="))
    .filter((setting) => CARRIED_SECTIONS.has(partsOf(setting.name).section) && kindOfSetting(setting) === "harmless")
    .map(({ name, value }) => [name, value] as const);
}

/** The user's own list of files to ignore. */
function excludesFile(
  settings: readonly ListedSetting[],
  { root, home, configHome }: RepositoryOwner & { readonly root: string },
): string | undefined {
  const named = settings.findLast(({ name, owner }) => name === "core.excludesfile" && owner === "user")?.value;
  const folder = configHome ?? (home === undefined ? undefined : join(home, ".config"));
  const usual = folder === undefined ? undefined : join(folder, "git/ignore");
  const path = named === undefined ? usual : named.replace(/^~(?=\/)/, () => home ?? "~");
  if (path === undefined || !path.startsWith("/")) return undefined;
  const real = realpathOrSelf(path);
  return isFile(real) && !isWithin(real, root) ? real : undefined;
}

/** The repository's folders outside the workspace, and the settings for the workspace in the folders above. */
function outsideParts({ root, top, gitDirectory, common }: RepositoryPlaces): readonly string[] {
  const rules: string[] = [];
  for (let folder = root; folder !== top && isWithin(folder, top); folder = dirname(folder)) {
    rules.push(...[".gitignore", ".gitattributes"].map((name) => join(dirname(folder), name)));
  }
  const folders = [...new Set([gitDirectory, common])].filter((folder) => !isWithin(folder, root));
  return [...folders, ...rules.filter(isFile)];
}

function asOptions(settings: readonly (readonly [string, string])[]): readonly string[] {
  return settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
