/** Starts `ollama serve` after the user agreed. It keeps running after Oxbow ends. */
import { join } from "node:path";
import { findProgram } from "../../system/find-program.js";
import { nodeClock } from "../../system/node-clock.js";
import { isLoopback } from "../named.js";
import type { ModelParts } from "./model-parts.js";

/** The program, when it is installed and its server would be on this machine. */
export function startableOllama({ directory }: ModelParts): string | undefined {
  const entry = directory.find("ollama");
  if (entry?.kind !== "http") return undefined;
  const { baseUrl } = directory.endpoint(entry.provider);
  return isLoopback(baseUrl) ? findProgram("ollama", directory.variables.PATH, { outside: process.cwd() }) : undefined;
}

/** Undefined when it answers; otherwise what to do instead. */
export async function startOllama(
  { directory, http, state }: ModelParts,
  program: string,
): Promise<string | undefined> {
  const entry = directory.find("ollama");
  if (entry?.kind !== "http" || state === undefined) return "start Ollama";
  const [service, { serviceEnvironment }] = await Promise.all([
    import("../ollama/service.js"),
    import("./ollama-environment.js"),
  ]);
  const started = await service.startOllama({
    baseUrl: directory.endpoint(entry.provider).baseUrl,
    program,
    environment: serviceEnvironment(directory.variables),
    folder: join(state, "ollama"),
    http,
    clock: nodeClock,
  });
  if (!("failure" in started)) return undefined;
  return `run 'ollama serve' yourself to see why it did not start (its log: ${join(state, "ollama", "serve.log")})`;
}
