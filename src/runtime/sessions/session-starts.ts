/**
 * The surroundings of a terminal, kept with its session, so that an engine which resumes the session without the terminal runs its commands
 * with them. The store is encrypted. Flags are not kept: what they allow is for the terminal that gave them.
 */
import type { Run } from "../../control/run.js";
import type { SessionStart } from "../../protocol/commands.js";
import { isJsonObject } from "../../protocol/json.js";
import { FILTERED, sessionEnvironment } from "../../tools/child-environment.js";
import type { ProcessParts } from "../open-engine.js";

type StartParts = Pick<ProcessParts, "sessions" | "variables" | "log">;

/** Tells what a session had last; for a session without a start that of the engine. */
export async function earlierStart(
  resume: { readonly resume: string } | undefined,
  { sessions, variables }: StartParts,
): Promise<SessionStart> {
  const engine = { environment: sessionEnvironment(variables, FILTERED) };
  if (resume === undefined || !(await sessions.isOwn())) return engine;
  const kept = await (await sessions.open())?.startOf?.(resume.resume as Run["session"]);
  return (kept === undefined ? undefined : readStart(kept)) ?? engine;
}

/** Once the session is in the store: with its first turn here. */
export function keepStart(
  { environment, umask, withheld }: SessionStart,
  run: Run,
  { sessions, log }: StartParts,
): void {
  const stop = run.bus.subscribe(({ kind }) => {
    if (kind !== "TurnStarted") return;
    stop();
    void keep().catch((error: unknown) =>
      log("warn", "engine", "the environment of a session is not kept", { error: String(error) }),
    );
  });
  const keep = async () => {
    if ((await run.saved()) !== undefined || !(await sessions.isOwn())) return;
    const start = JSON.stringify({ environment, umask, withheld });
    await (await sessions.open())?.keepStart?.(run.session, start);
  };
}

function readStart(text: string): SessionStart | undefined {
  const { environment, umask, withheld } = JSON.parse(text) as Record<string, unknown>;
  if (!isJsonObject(environment)) return undefined;
  const texts = Object.entries(environment).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return {
    environment: Object.fromEntries(texts),
    ...(typeof umask === "number" && { umask }),
    ...(Array.isArray(withheld) && { withheld: withheld.filter((name) => typeof name === "string") }),
  };
}
