/** Which flags a session of a running engine can follow. The others belong to the start of an engine. */
import { UsageError } from "../../base/usage-error.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { CommandPayloads } from "../../protocol/commands.js";
import type { SessionMode } from "../../protocol/events.js";
import { RUN_FLAGS } from "../commands/run-flags.js";

const FOLLOWED: ReadonlySet<string> = new Set([
  ..."attach no-attach no-listen continue resume wait orphan orphan-note cwd help".split(" "),
  ..."model provider profile effort permission-mode plan image plain quiet-cost".split(" "),
  ..."stream-events json-events output-format verbose log-level log-to-stderr".split(" "),
]);

/** The flags of this start that a running engine cannot follow. */
export function flagsOfEngine(flags: ParsedFlags): readonly string[] {
  return RUN_FLAGS.filter(({ name }) => flags.has(name) && !FOLLOWED.has(name)).map(({ name }) => `--${name}`);
}

export function refuseFlagsOfEngine(flags: ParsedFlags): void {
  const [first] = flagsOfEngine(flags);
  if (first === undefined) return;
  throw new UsageError(`${first} is decided when an engine starts: give it there, or leave out --attach.`);
}

/** The new session that the flags ask for. */
export function wantedSession(flags: ParsedFlags, root: string): CommandPayloads["CreateSession"] {
  const [provider, model, profile] = [flags.text("provider"), flags.text("model"), flags.text("profile")];
  const names = [provider, model].filter((name) => name !== undefined);
  return {
    cwd: root,
    ...(names.length > 0 && { model: names.join(":") }),
    ...(profile !== undefined && { profile }),
  };
}

export function wantedMode(flags: ParsedFlags): SessionMode | undefined {
  return flags.has("plan") ? "plan" : (flags.text("permission-mode") as SessionMode | undefined);
}

/** The same flags, and the session to resume. */
export function resuming(flags: ParsedFlags, session: string): ParsedFlags {
  return {
    words: flags.words,
    has: (name) => name === "resume" || (name !== "continue" && flags.has(name)),
    text: (name) => (name === "resume" ? session : flags.text(name)),
    list: (name) => flags.list(name),
  };
}
