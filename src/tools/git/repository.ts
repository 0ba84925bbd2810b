/**
 * Looks at a repository before git may work in it. A repository is data from outside: its configuration can name programs to
 * run at almost every step, and its files can point to other repositories.
 *
 * 1. No program named by the repository runs: what a fixed setting cannot switch off (filters have names of their own) is found
 *    in the configuration and switched off by name.
 * 2. The repository belongs to the workspace (`system/repository-places.ts` says when).
 */
import { misplacedPart, realPlaces } from "../../system/repository-places.js";

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
  const [told, listing] = await Promise.all([
    git(["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"]),
    git(["config", "--list", "-z"]),
  ]);
  const [top, gitDirectory, common, ...rest] = told.trimEnd().split("\n");
  if (top === undefined || gitDirectory === undefined || common === undefined || rest.length > 0) {
    throw new UnsafeRepositoryError("The repository's folders cannot be told apart.");
  }
  const config = parseConfig(listing);
  const workTreeSetting = config.findLast(([name]) => name === "core.worktree")?.[1];
  const places = realPlaces({ root, top, gitDirectory, common, workTreeSetting });
  const misplaced = misplacedPart(places);
  if (misplaced !== undefined) {
    throw new UnsafeRepositoryError(
      `This repository is refused: ${misplaced} lies outside the workspace and does not belong to it. Use bash if you mean it.`,
    );
  }
  return {
    top: places.top,
    gitDirectory: places.gitDirectory,
    settings: [...BASE_SETTINGS, ...filterSettings(config)],
  };
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
