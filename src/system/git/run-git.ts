/** Runs git so that it starts no hook and no program of a repository. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findProgram } from "../find-program.js";

const TIMEOUT_MS = 60_000;
const MOST_BYTES = 16 * 1024 * 1024;
const NO_PROGRAMS = ["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "diff.ignoreSubmodules=all"];

/** Makes git run no program that the repository names. */
export interface QuietGit {
  readonly environment: Readonly<Record<string, string>>;
  /** Tells whether git would run no program of the repository. */
  isQuiet(root: string): boolean;
}

export interface Git {
  run(folder: string, ...args: readonly string[]): Promise<string>;
  isQuiet: QuietGit["isQuiet"];
  /** Works on a tree with this repository, ignoring the tree's `.git` file. */
  on(tree: string, repository: string): Git;
}

/** Never a program of the workspace; undefined if git is not installed. */
export function findGit(root: string, quiet: QuietGit): Git | undefined {
  const program = findProgram("git", quiet.environment.PATH, { outside: root });
  return program === undefined ? undefined : gitOf(program, quiet);
}

function gitOf(program: string, { environment, isQuiet }: QuietGit): Git {
  const run = promisify(execFile);
  return {
    run: async (folder, ...args) => {
      const { stdout } = await run(program, ["--no-pager", ...NO_PROGRAMS, ...args], {
        cwd: folder,
        env: environment,
        timeout: TIMEOUT_MS,
        killSignal: "SIGKILL",
        maxBuffer: MOST_BYTES,
        encoding: "utf8",
      });
      return stdout;
    },
    isQuiet,
    on: (tree, repository) =>
      gitOf(program, { environment: { ...environment, GIT_DIR: repository, GIT_WORK_TREE: tree }, isQuiet }),
  };
}

/** The part of git's message that says what is wrong. */
export function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
