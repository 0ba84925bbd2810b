/**
 * `ollama serve` as a background service of this user.
 *
 * 1. It is started only for an address on this machine where nothing answers, and outlives the Oxbow that started it.
 * 2. A file records the process id with the start time, so that Oxbow never kills another process that got the same id later.
 * 3. The service's log is in our state folder; its last line says why a start failed.
 */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { SYSTEM_PATH } from "../../base/system-path.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { isJsonObject } from "../../protocol/json.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { HttpClient } from "../../system/http-client.js";
import { isRunning } from "../../system/process-identity.js";
import { startTimeOf } from "../../system/process-table.js";
import { isLoopback } from "../named.js";
import { oneLine } from "../wire/failures.js";
import { asNumber, asText, parseJson } from "../wire/fields.js";
import { ollamaVersion } from "./api.js";

export interface ServiceOptions {
  readonly baseUrl: string;
  /** The program, as found on PATH; undefined when it is not installed. */
  readonly program: string | undefined;
  /** The whole environment of the service, except its address. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of its log and its process record. */
  readonly folder: string;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

export type Started =
  | { readonly version: string; readonly already: boolean; readonly log?: string }
  | { readonly failure: Failure };

const START_MS = 30_000;
const LOOK_MS = 100;
const STOP_MS = 10_000;
const LOG_BYTES = 64 * 1024;

export async function startOllama(options: ServiceOptions): Promise<Started> {
  const { baseUrl, program, http } = options;
  const there = await ollamaVersion(baseUrl, { http });
  if (there.ok) return { version: there.version, already: true };
  if (!isLoopback(baseUrl)) {
    return refused(
      `Ollama does not answer at ${baseUrl}, which is another machine: start it there, or set OLLAMA_HOST.`,
    );
  }
  if (program === undefined) {
    return refused("the program 'ollama' is not on PATH. Install it (https://ollama.com/download), then try again.");
  }
  const log = join(options.folder, "serve.log");
  const child = launch(program, log, options);
  const exited = { value: false, error: "" };
  child.once("exit", () => {
    exited.value = true;
  });
  child.once("error", (error) => {
    exited.value = true;
    exited.error = error.message;
  });
  if (child.pid !== undefined) {
    await writeFileAtomic(recordPath(options), JSON.stringify({ pid: child.pid, start_time: startTimeOf(child.pid) }));
  }
  for (const until = options.clock.now() + START_MS; options.clock.now() < until; ) {
    const answer = await ollamaVersion(baseUrl, { http, timeoutMs: 500 });
    if (answer.ok) return { version: answer.version, already: false, log };
    if (exited.value || options.signal?.aborted) break;
    await new Promise<void>((resolve) => void options.clock.after(LOOK_MS, resolve));
  }
  if (!exited.value && child.pid !== undefined) process.kill(child.pid, "SIGTERM");
  rmSync(recordPath(options), { force: true });
  if (options.signal?.aborted) return { failure: failure("InvalidInput", { detail: "Cancelled." }) };
  const why = exited.error || lastLine(log) || "no output";
  return refused(`'ollama serve' ${exited.value ? "ended at once" : "did not answer"}: ${oneLine(why)} (log: ${log})`);
}

export type Stopped = "stopped" | "not-running" | "not-ours";

/** Ends only a service that we started. */
export async function stopOllama(options: Omit<ServiceOptions, "program" | "environment">): Promise<Stopped> {
  const pid = readRecord(options);
  if (pid === undefined) {
    const there = await ollamaVersion(options.baseUrl, { http: options.http });
    return there.ok ? "not-ours" : "not-running";
  }
  const end = (signal: NodeJS.Signals) => {
    // It leads its own process group, with the runners of its models.
    try {
      process.kill(-pid, signal);
    } catch {
      // It has already ended.
    }
  };
  end("SIGTERM");
  for (const until = options.clock.now() + STOP_MS; isRunning(pid) && options.clock.now() < until; ) {
    await new Promise<void>((resolve) => void options.clock.after(LOOK_MS, resolve));
  }
  end("SIGKILL");
  rmSync(recordPath(options), { force: true });
  return "stopped";
}

/** The process that we started and that still runs. */
export function ownService(options: Pick<ServiceOptions, "folder">): number | undefined {
  return readRecord(options);
}

function launch(program: string, log: string, { baseUrl, environment, folder }: ServiceOptions) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const output = openSync(log, "w", 0o600);
  try {
    const child = spawn(program, ["serve"], {
      cwd: folder,
      detached: true,
      stdio: ["ignore", output, output],
      env: { ...environment, OLLAMA_HOST: new URL(baseUrl).host },
    });
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

function recordPath({ folder }: Pick<ServiceOptions, "folder">): string {
  return join(folder, "serve.json");
}

function readRecord(options: Pick<ServiceOptions, "folder">): number | undefined {
  const value = parseJson(readText(recordPath(options)));
  if (!isJsonObject(value)) return undefined;
  const pid = asNumber(value.pid);
  if (pid === undefined || pid <= 1 || !isRunning(pid)) return undefined;
  const startTime = startTimeOf(pid);
  if (startTime !== asNumber(value.start_time)) return undefined;
  return startTime !== 0 || isOllama(pid) ? pid : undefined;
}

/** Compares the program's name if the system reports no start times. */
function isOllama(pid: number): boolean {
  try {
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
      env: { PATH: SYSTEM_PATH },
    }).includes("ollama");
  } catch {
    return false;
  }
}

function lastLine(log: string): string {
  const lines = readText(log).slice(-LOG_BYTES).split("\n");
  const line = lines.findLast((text) => text.trim() !== "") ?? "";
  // Its log lines are key=value pairs; the message is the useful part.
  return /\b(?:error|msg)="([^"]+)"/.exec(line)?.[1] ?? asText(line);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function refused(detail: string): { readonly failure: Failure } {
  return { failure: failure("ProviderFailed", { name: "ollama", detail }) };
}
