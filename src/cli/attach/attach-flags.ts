/** Which flags a session of a running engine can follow. The others belong to the start of an engine. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { CommandPayloads } from "../../protocol/commands.js";
import type { SessionMode } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
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
  throw new UsageError(`${first} takes effect when an engine starts: start the engine with it, or leave out --attach.`);
}

/** The new session that the flags and the environment of this client ask for. */
export function wantedSession(
  flags: ParsedFlags,
  { root, variables }: { readonly root: string; readonly variables: Variables },
): CommandPayloads["CreateSession"] {
  const model = wantedModel(flags) ?? named([variables.OXBOW_PROVIDER, variables.OXBOW_MODEL]);
  const profile = flags.text("profile") ?? (variables.OXBOW_PROFILE || undefined);
  return { cwd: root, ...(model !== undefined && { model }), ...(profile !== undefined && { profile }) };
}

/** The model of the flags, also for a session that has one. */
export function wantedModel(flags: ParsedFlags): string | undefined {
  return named([flags.text("provider"), flags.text("model")]);
}

export function wantedEffort(flags: ParsedFlags, variables: Variables): string | undefined {
  return flags.text("effort") ?? (variables.OXBOW_EFFORT || undefined);
}

function named(parts: readonly (string | undefined)[]): string | undefined {
  const names = parts.filter((name) => name !== undefined && name !== "");
  return names.length === 0 ? undefined : names.join(":");
}

export function wantedMode(flags: ParsedFlags): SessionMode | undefined {
  return flags.has("plan") ? "plan" : (flags.text("permission-mode") as SessionMode | undefined);
}

const WISHES: ReadonlySet<string> = new Set("model provider profile effort permission-mode plan cwd".split(" "));

/** The same flags for a session that has followed them already and may have changed since. */
export function withoutWishes(flags: ParsedFlags): ParsedFlags {
  return {
    words: flags.words,
    has: (name) => !WISHES.has(name) && flags.has(name),
    text: (name) => (WISHES.has(name) ? undefined : flags.text(name)),
    list: (name) => flags.list(name),
  };
}

/**
 * The same flags, and the session to resume in the mode that it had: the engine may have started with another one than this client's, and
 * the mode may have changed since. To allow everything again takes a choice of this person.
 */
export function resuming(flags: ParsedFlags, { session, mode }: TakenSession): ParsedFlags {
  const given = flags.text("permission-mode");
  const permissionMode = mode === "plan" || (mode === "allow" && given !== "allow") ? undefined : (mode ?? given);
  const has = (name: string) => {
    if (name === "resume") return true;
    if (name === "permission-mode") return permissionMode !== undefined;
    if (name === "plan" && mode !== undefined) return mode === "plan";
    return name !== "continue" && flags.has(name);
  };
  const text = (name: string) => {
    if (name === "resume") return session;
    return name === "permission-mode" ? permissionMode : flags.text(name);
  };
  return { words: flags.words, has, text, list: (name) => flags.list(name) };
}

/** A session whose engine has ended. */
export interface TakenSession {
  readonly session: SessionId;
  readonly mode?: SessionMode | undefined;
}
