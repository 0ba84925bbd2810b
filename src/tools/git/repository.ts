/**
 * Looks at a repository before git may work in it. A repository is data from outside: its configuration can name programs to
 * run at almost every step, and its files can point to other repositories.
 *
 * 1. No program named by the repository runs: what a fixed setting cannot switch off (filters have names of their own) is found
 *    in the configuration and switched off by name.
 * 2. The repository's files lie in the workspace, or lie outside and vouch for this work tree themselves: a folder above
 *    that holds the workspace, a linked worktree, a submodule.
 */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isInside } from "../files/containment.js";

/** Runs git with these arguments and gives its stdout; throws with git's own message. */
export type RunGit = (args: readonly string[]) => Promise<string>;

export interface VettedRepository {
  readonly top: string;
  readonly gitDirectory: string;
  /** `-c` settings to put before the action. */
  readonly settings: readonly string[];
}

export class UnsafeRepositoryError extends Error {}

/** Highest in precedence, so nothing in the repository can undo them. */
const FIXED_SETTINGS: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "core.pager": "cat",
  "core.sshCommand": "false",
  "core.askPass": "false",
  "core.alternateRefsCommand": "false",
  "core.quotePath": "false",
  "credential.helper": "",
  "diff.external": "",
  "diff.orderFile": "/dev/null",
  "diff.submodule": "short",
  "diff.ignoreSubmodules": "dirty",
  "status.submoduleSummary": "false",
  "submodule.recurse": "false",
  "log.showSignature": "false",
  "log.diffMerges": "separate",
  "gpg.program": "false",
  "gpg.openpgp.program": "false",
  "gpg.x509.program": "false",
  "gpg.ssh.program": "false",
  "mailmap.file": "/dev/null",
  "mailmap.blob": "",
  "blame.ignoreRevsFile": "",
  "protocol.allow": "never",
  "safe.bareRepository": "explicit",
  "color.ui": "false",
  "color.status": "false",
  "column.status": "never",
  "i18n.logOutputEncoding": "UTF-8",
};

/** For git itself, beside the child environment. */
export const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  GIT_NO_LAZY_FETCH: "1",
  // Wins over every protocol setting of the repository; a partial clone must not fetch what is missing.
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TRACE2: "0",
  GIT_TRACE2_PERF: "0",
  GIT_TRACE2_EVENT: "0",
  LC_ALL: "C.UTF-8",
};

export const BASE_SETTINGS: readonly string[] = Object.entries(FIXED_SETTINGS).flatMap(([name, value]) => [
  "-c",
  `${name}=${value}`,
]);

const PROGRAM_SETTING = /^(filter\..*)\.(clean|smudge|process|required)$/s;

export async function vetRepository(root: string, git: RunGit): Promise<VettedRepository> {
  const [places, listing] = await Promise.all([
    git(["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"]),
    git(["config", "--list", "-z"]),
  ]);
  const [top, gitDirectory, common, ...rest] = places.trimEnd().split("\n");
  if (top === undefined || gitDirectory === undefined || common === undefined || rest.length > 0) {
    throw new UnsafeRepositoryError("The repository's folders cannot be told apart.");
  }
  const config = parseConfig(listing);
  const repository = {
    root,
    top: realpathSync(top),
    gitDirectory: realpathSync(gitDirectory),
    common: realpathSync(resolve(root, common)),
    workTreeSetting: config.findLast(([name]) => name === "core.worktree")?.[1],
  };
  checkPlaces(repository);
  const { gitDirectory: place } = repository;
  return { top: repository.top, gitDirectory: place, settings: [...BASE_SETTINGS, ...filterSettings(config)] };
}

type Config = readonly (readonly [name: string, value: string])[];

function parseConfig(listing: string): Config {
  return listing
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const at = entry.indexOf("\n");
      return at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
    });
}

function filterSettings(config: Config): readonly string[] {
  const filters = new Set(config.flatMap(([name]) => PROGRAM_SETTING.exec(name)?.[1] ?? []));
  return [...filters].flatMap((filter) => {
    if (filter.includes("=")) {
      throw new UnsafeRepositoryError(`The setting ${filter} names a program to run and cannot be switched off.`);
    }
    return ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => ["-c", `${filter}.${setting}`]);
  });
}

interface Places {
  readonly root: string;
  readonly top: string;
  readonly gitDirectory: string;
  readonly common: string;
  readonly workTreeSetting: string | undefined;
}

function checkPlaces(places: Places): void {
  const { root, top, gitDirectory, common } = places;
  if (isInside(gitDirectory, [root])) {
    if (!isInside(top, [root])) throw outside("its work tree", top);
    if (!isInside(common, [root])) throw outside("its common folder", common);
    for (const folder of new Set([gitDirectory, common])) checkContents(folder, root);
    return;
  }
  if (!isInside(root, [top])) throw outside("its work tree", top);
  const holdsWorkspace = gitDirectory === join(top, ".git") && common === gitDirectory;
  if (!holdsWorkspace && !isLinkedWorktree(places) && !isSubmodule(places))
    throw outside("its git folder", gitDirectory);
}

/** git writes into its own folder where the worktree is; a `.git` file planted here cannot have that written there. */
function isLinkedWorktree({ top, gitDirectory, common }: Places): boolean {
  if (dirname(dirname(gitDirectory)) !== common) return false;
  try {
    const back = readFileSync(join(gitDirectory, "gitdir"), "utf8").trimEnd();
    return realpathSync(resolve(gitDirectory, back)) === join(top, ".git");
  } catch {
    return false;
  }
}

function isSubmodule({ top, gitDirectory, common, workTreeSetting }: Places): boolean {
  if (workTreeSetting === undefined || common !== gitDirectory) return false;
  try {
    return realpathSync(resolve(gitDirectory, workTreeSetting)) === top;
  } catch {
    return false;
  }
}

/** Where a link would lead git into another repository. */
const ENTRIES = [
  ..."HEAD config config.worktree index packed-refs shallow info logs modules worktrees".split(" "),
  ..."refs refs/heads refs/tags refs/remotes objects objects/pack objects/info reftable".split(" "),
];

function checkContents(folder: string, root: string): void {
  for (const name of ENTRIES) {
    const path = join(folder, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    const target = realpathOrSelf(path);
    if (!isInside(target, [root])) throw outside(`its ${name}`, target);
  }
  for (const line of readIfThere(join(folder, "objects/info/alternates")).split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const store = realpathOrSelf(resolve(folder, "objects", line));
    if (!isInside(store, [root])) throw outside("an object store it borrows from", store);
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function realpathOrSelf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function outside(what: string, path: string): UnsafeRepositoryError {
  return new UnsafeRepositoryError(
    `This repository is refused: ${what} (${path}) lies outside the workspace and does not belong to it. Use bash if you mean it.`,
  );
}
