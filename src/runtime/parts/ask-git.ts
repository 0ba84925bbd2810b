/** Runs git before a decision: it runs no programs of the repository, and must answer fast. */
import { spawnSync } from "node:child_process";
import type { AskGit } from "../../security/permissions/git-problem.js";
import { findProgram } from "../../system/find-program.js";

const TIMEOUT_MS = 2000;
const MOST_BYTES = 16 * 1024 * 1024;

export function askGit(root: string, environment: Readonly<Record<string, string>>): AskGit {
  return (args) => {
    const program = findProgram("git", environment.PATH, { outside: root });
    if (program === undefined) return undefined;
    const { status, stdout } = spawnSync(program, ["--no-pager", ...args], {
      cwd: root,
      env: environment,
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      maxBuffer: MOST_BYTES,
      stdio: ["ignore", "pipe", "ignore"],
      encoding: "utf8",
    });
    return status === 0 ? stdout : undefined;
  };
}
