/** Starts `ollama serve` for a person who said yes (feature M5). It goes on after Oxbow has ended, as if they had started it themselves. */
import { spawn } from "node:child_process";
import { findProgram } from "../../system/find-program.js";
import { nodeClock } from "../../system/node-clock.js";
import { listOf } from "./local-servers.js";
import type { ModelParts } from "./model-parts.js";

const START_MS = 15_000;
const LOOK_MS = 100;

/** The program, when it is installed and its server would be on this machine. */
export function startableOllama({ directory }: ModelParts): string | undefined {
  const entry = directory.find("ollama");
  if (entry?.kind !== "http") return undefined;
  const { baseUrl } = directory.endpoint(entry.provider);
  const here = URL.canParse(baseUrl) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
  return here ? findProgram("ollama", directory.variables.PATH, { outside: process.cwd() }) : undefined;
}

/** Undefined when it answers; otherwise what to do instead. */
export async function startOllama(parts: ModelParts, program: string): Promise<string | undefined> {
  const entry = parts.directory.find("ollama");
  if (entry?.kind !== "http") return "start Ollama";
  let ended = false;
  const child = spawn(program, ["serve"], { detached: true, stdio: "ignore" });
  child.on("error", () => {
    ended = true;
  });
  child.on("exit", () => {
    ended = true;
  });
  child.unref();
  const until = nodeClock.now() + START_MS;
  while (!ended && nodeClock.now() < until) {
    if ((await listOf(parts, entry.provider, LOOK_MS * 5)).ok) return undefined;
    await new Promise<void>((resolve) => nodeClock.after(LOOK_MS, resolve));
  }
  return "run 'ollama serve' yourself to see why it did not start";
}
