import { execFile } from "node:child_process";
import { SYSTEM_PATH } from "../../base/system-path.js";

export interface RunOptions {
  readonly cwd?: string;
  /** `inherited`: that of this process. Default: only the system's path. */
  readonly env?: Readonly<Record<string, string>> | "inherited";
  readonly timeoutMs?: number;
}

export interface Ran {
  /** The last line of what it says when it fails. */
  readonly failure: string | undefined;
  readonly output: string;
  /** All that it printed. */
  readonly said: string;
}

/** Runs a program of the system that ends soon. */
export function run(words: readonly string[], { cwd, env, timeoutMs = 10_000 }: RunOptions = {}): Promise<Ran> {
  const [program = "", ...args] = words;
  const options = { cwd, env: env === "inherited" ? undefined : (env ?? { PATH: SYSTEM_PATH }), timeout: timeoutMs };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, output, errors) => {
      const failure = error === null ? undefined : errors.trim().split("\n").at(-1) || error.message;
      resolve({ failure, output: output.trim(), said: output + errors || (error?.message ?? "") });
    });
  });
}
