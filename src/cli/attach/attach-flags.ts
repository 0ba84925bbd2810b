/** Reads what the flags of a client ask of a session that is open already. The others come with the sessions that it opens. */
import { UsageError } from "../../base/usage-error.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { SessionMode } from "../../protocol/events.js";
import { engineFlags } from "../engine/session-start.js";

export function refuseFlagsOfEngine(flags: ParsedFlags): void {
  const [first] = engineFlags(flags);
  if (first === undefined) return;
  throw new UsageError(`${first} takes effect when an engine starts: start the engine with it, or leave out --attach.`);
}

export function wantedModel(flags: ParsedFlags): string | undefined {
  const names = [flags.text("provider"), flags.text("model")].filter((name) => name !== undefined && name !== "");
  return names.length === 0 ? undefined : names.join(":");
}

export function wantedMode(flags: ParsedFlags): SessionMode | undefined {
  return flags.has("plan") ? "plan" : (flags.text("permission-mode") as SessionMode | undefined);
}
