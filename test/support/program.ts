/**
 * Runs the program. Starting a process takes most of the time of a small test, so one run at a time happens in the process of the tests.
 *
 * A test that signals the program, watches its output, or depends on its own process (the credential helper, uncaught errors, variables
 * that Node itself reads) uses `oxbowProcess`.
 */
import type { Envelope } from "../../src/protocol/envelope.js";
import { oxbowHere } from "./program-here.js";
import type { ProgramOptions, ProgramResult } from "./program-options.js";
import { oxbowProcess } from "./program-process.js";

export * from "./program-options.js";
export * from "./program-process.js";

let isBusy = false;

export async function oxbow(args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const needsProcess = options.onOutput !== undefined || options.onStart !== undefined;
  // Standard output and the working folder belong to the process.
  if (needsProcess || isBusy) return oxbowProcess(args, options);
  isBusy = true;
  try {
    return await oxbowHere(args, options);
  } finally {
    isBusy = false;
  }
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

/** Returns what the program wrote but the notice that it prints on a machine without a sandbox. */
export function withoutSandboxNotice(stderr: string): string {
  return stderr.replace(/^.*Commands run without a sandbox: .*\n/gm, "");
}

/** Looks like a key, is none: made at run time so that no such literal stands in the sources. */
export function sampleKey(): string {
  return ["sample", "key", "for", "tests", "0123456789"].join("-");
}
