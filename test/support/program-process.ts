/** Runs the built program as a user would: in a separate process. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type ProgramOptions, type ProgramResult, programPlace } from "./program-options.js";

export const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));

export async function oxbowProcess(args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const { home, cwd, env } = await programPlace(options);
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env,
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  options.onStart?.(child);
  const all = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (piece: string) => {
      all[name] += piece;
      options.onOutput?.(all, child);
    });
  }
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.input);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...all, home }));
  });
}
