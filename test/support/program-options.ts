/** Describes what every way to run the program in a test shares: the folders, the variables, the options and the result. */
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * Removed when the test is over. A hook of this module's own would not do that: modules are loaded once for many test files, and a
 * hook belongs to the file that loaded them.
 */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Servers on the developer's machine must not affect the tests. Nothing listens on port 9. */
export const NO_LOCAL_SERVERS = {
  OLLAMA_HOST: "http://127.0.0.1:9",
  LLAMACPP_BASE_URL: "http://127.0.0.1:9",
  LLAMAFILE_BASE_URL: "http://127.0.0.1:9",
  LMSTUDIO_BASE_URL: "http://127.0.0.1:9",
  VLLM_BASE_URL: "http://127.0.0.1:9",
};

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Given on standard input, which is then closed. Without it there is no standard input. */
  readonly input?: string;
  /** Called with each piece of output; may signal the process. */
  readonly onOutput?: (all: { stdout: string; stderr: string }, child: ChildProcess) => void;
  readonly onStart?: (child: ChildProcess) => void;
}

export interface ProgramResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly home: string;
}

/** The folders and the whole environment of one run: nothing in it but what the test gives. */
export async function programPlace(options: Pick<ProgramOptions, "cwd" | "env">): Promise<{
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}> {
  const home = options.env?.OXBOW_HOME ?? (await temporaryFolder());
  const cwd = options.cwd ?? (await temporaryFolder());
  const env = {
    PATH: process.env.PATH ?? "",
    // What the program leaves there is what a test has left.
    TMPDIR: tmpdir(),
    HOME: home,
    OXBOW_HOME: home,
    ...NO_LOCAL_SERVERS,
    ...options.env,
  };
  return { home, cwd, env };
}
