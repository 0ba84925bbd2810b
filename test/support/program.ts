/** Runs the built program as a stranger would: own process, empty home, nothing in the environment but what the test gives. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Envelope } from "../../src/protocol/envelope.js";

export const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));

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

export async function oxbow(args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
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

export function envelopes(stdout: string): Envelope[] {
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Envelope);
}

/** The variables that point each provider at a mock model. */
export function providerEnvironment(wire: Wire, url: string): Record<string, string> {
  switch (wire) {
    case "anthropic":
      return { ANTHROPIC_API_KEY: sampleKey(), ANTHROPIC_BASE_URL: url };
    case "openai":
      return { OPENAI_API_KEY: sampleKey(), OPENAI_BASE_URL: `${url}/v1` };
    case "openai-responses":
      return { OXBOW_PROVIDER: wire, OPENAI_API_KEY: sampleKey(), OPENAI_RESPONSES_URL: `${url}/v1` };
    case "gemini":
      return { GEMINI_API_KEY: sampleKey(), GOOGLE_GEMINI_BASE_URL: url };
    case "ollama":
      return { OLLAMA_HOST: url };
  }
}

export const WIRES = ["anthropic", "openai", "openai-responses", "gemini", "ollama"] as const;
export type Wire = (typeof WIRES)[number];

/** Looks like a key, is none: made at run time so that no such literal stands in the sources. */
export function sampleKey(): string {
  return ["sample", "key", "for", "tests", "0123456789"].join("-");
}
