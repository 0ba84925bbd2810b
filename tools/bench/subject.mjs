// Starts one of the programs that are compared, against a mock model, and tells when it asked and what it used.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const BIN = here("../../dist/bin.js");
const FLOOR = here("./floor.mjs");
const REPORT = pathToFileURL(here("./report-usage.mjs")).href;

export const SUBJECTS = ["floor", "oxbow"];

export function versionCommand(subject) {
  return subject === "floor" ? ["--input-type=module", "-e", "console.log('floor 0')"] : [BIN, "--version"];
}

function promptCommand(subject, flags) {
  if (subject === "floor") return [FLOOR, "go"];
  return [BIN, "run", "go", "--permission-mode", "allow", "--model", "openai:m", ...flags];
}

/** Runs to the end; `usage` only where it is asked for, because the reporter costs a little start-up itself. */
export async function runPrompt(subject, { url, measureUsage = false, flags = [] }) {
  const folder = mkdtempSync(join(tmpdir(), "oxbow-bench-"));
  const usageFile = join(folder, "usage.json");
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    OXBOW_HOME: join(folder, "home"),
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "bench",
    BENCH_USAGE_FILE: usageFile,
  };
  const args = [...(measureUsage ? ["--import", REPORT] : []), ...promptCommand(subject, flags)];
  const startedAt = performance.now();
  const code = await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.resume();
    child.on("error", reject);
    child.on("close", resolve);
  });
  const wallMs = performance.now() - startedAt;
  const usage = measureUsage ? JSON.parse(readFileSync(usageFile, "utf8")) : undefined;
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0) throw new Error(`${subject} ended with exit code ${code}`);
  return { startedAt, wallMs, usage };
}

export async function runVersion(subject) {
  const startedAt = performance.now();
  await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, versionCommand(subject), { stdio: "ignore" });
    child.on("error", reject);
    child.on("close", resolve);
  });
  return performance.now() - startedAt;
}
