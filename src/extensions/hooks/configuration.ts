/**
 * Hooks as people write them: the tables of a profile, and the `hooks` of Claude Code's and Codex' settings.
 *
 * 1. A bad entry is left out with a message; the others work.
 * 2. A hook that is written twice for an event runs once.
 */
import type { ExtensionScope } from "../../base/extension-files.js";
import { HOOK_EVENTS, type HookEvent, hookEvent } from "./hook-events.js";
import { parseMatcher } from "./matcher.js";

export interface ConfiguredHook {
  readonly event: HookEvent;
  /** As it was written; undefined matches everything. */
  readonly matcher: string | undefined;
  /** A permission rule that the call must match. */
  readonly condition?: string;
  /** A shell command, or a program if there are `args`. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly timeoutMs: number;
  /** Only the first time in a session. */
  readonly once: boolean;
  /** Oxbow does not wait for it, and ignores its answer. */
  readonly inBackground: boolean;
  /** A failure of the hook counts as a refusal. */
  readonly refusesOnFailure: boolean;
  /** The user runs it in the sandbox. */
  readonly sandbox: boolean;
  readonly scope: ExtensionScope;
  /** The file, for messages. */
  readonly path: string;
}

export interface HookEntries {
  readonly scope: ExtensionScope;
  readonly path: string;
  /** `PreToolUse` for `hooks.PreToolUse`; a table of a profile may name its event itself. */
  readonly event: string;
  readonly value: unknown;
}

export interface ReadHooks {
  readonly hooks: readonly ConfiguredHook[];
  readonly problems: readonly string[];
}

const LONGEST_MS = 3_600_000;

export function readHooks(entries: readonly HookEntries[]): ReadHooks {
  const problems = new Set<string>();
  const hooks = new Map<string, ConfiguredHook>();
  for (const entry of entries) {
    for (const group of asList(entry.value)) {
      const found = isTable(group) ? readGroup(group, entry) : [`a hook for ${entry.event} is not a table.`];
      for (const each of found) {
        if (typeof each === "string") problems.add(`${entry.path}: ${each}`);
        else hooks.set(identityOf(each), each);
      }
    }
  }
  return { hooks: [...hooks.values()], problems: [...problems] };
}

/** The `[hooks]` of a profile: `[[hooks]]` with `event`, or `[[hooks.PreToolUse]]`. */
export function profileEntries(value: unknown, path: string): readonly HookEntries[] {
  const of = (event: string, each: unknown): HookEntries => ({ scope: "user", path, event, value: each });
  if (Array.isArray(value)) return value.map((each) => of("", each));
  return isTable(value) ? Object.entries(value).map(([event, each]) => of(event, each)) : [];
}

type Found = ConfiguredHook | string;

function readGroup(group: Table, entry: HookEntries): readonly Found[] {
  const name = typeof group.event === "string" ? group.event : entry.event;
  const event = hookEvent(name);
  if (event === undefined) return [`the event ${name || "(none)"} does not happen in Oxbow, so its hooks do not run.`];
  const matcher = group.matcher;
  if (matcher !== undefined && matcher !== null && typeof matcher !== "string")
    return [`the matcher of a ${event} hook is not text.`];
  const problem = typeof matcher === "string" ? parseMatcher(matcher).problem : undefined;
  if (problem !== undefined) return [`${event}: ${problem}`];
  const place = { event, entry, matcher: matcher ?? undefined };
  // A handler without a group, as profiles write it: { event = "Stop", cmd = "…" }.
  if (group.hooks === undefined && commandOf(group) !== undefined)
    return [readHandler({ type: "command", ...group }, place)];
  if (!Array.isArray(group.hooks)) return [`a group of ${event} has no list "hooks".`];
  return group.hooks.map((handler) =>
    isTable(handler) ? readHandler(handler, place) : `a hook for ${event} is not a table.`,
  );
}

interface HandlerPlace {
  readonly event: HookEvent;
  readonly entry: HookEntries;
  readonly matcher: string | undefined;
}

function readHandler(handler: Table, { event, entry, matcher }: HandlerPlace): Found {
  const command = commandOf(handler);
  if (handler.type !== "command") {
    const type = typeof handler.type === "string" ? `of type ${handler.type}` : "without a type";
    return `a ${event} hook ${type} does not run: Oxbow runs hooks of type command.`;
  }
  if (command === undefined) return `a ${event} hook has no command.`;
  if (typeof handler.shell === "string" && handler.shell !== "bash" && handler.shell !== "sh")
    return `a ${event} hook for ${handler.shell} does not run: Oxbow uses bash.`;
  const timeoutMs = timeoutOf(handler);
  if (timeoutMs === undefined) return `the timeout of a ${event} hook is not a positive number.`;
  const { args } = handler;
  return {
    event,
    matcher,
    command,
    ...(typeof handler.if === "string" && handler.if.trim() !== "" && { condition: handler.if }),
    ...(Array.isArray(args) && { args: args.map(String) }),
    timeoutMs: Math.min(timeoutMs === "default" ? HOOK_EVENTS[event].deadlineMs : timeoutMs, LONGEST_MS),
    once: handler.once === true,
    inBackground: handler.async === true || handler.asyncRewake === true,
    refusesOnFailure: handler.onFailure === "block" || handler.on_failure === "block",
    sandbox: handler.sandbox === true,
    scope: entry.scope,
    path: entry.path,
  };
}

function commandOf({ command, cmd }: Table): string | undefined {
  const written = command ?? cmd;
  return typeof written === "string" && written.trim() !== "" && !written.includes("\0") ? written : undefined;
}

/** Seconds, or milliseconds as `timeout_ms`. */
function timeoutOf({ timeout, timeout_ms }: Table): number | "default" | undefined {
  if (timeout === undefined && timeout_ms === undefined) return "default";
  const ms = typeof timeout_ms === "number" ? timeout_ms : typeof timeout === "number" ? timeout * 1000 : Number.NaN;
  return ms > 0 ? ms : undefined;
}

function identityOf({ event, matcher, condition, command, args }: ConfiguredHook): string {
  return JSON.stringify([event, matcher ?? "", condition ?? "", command, args ?? []]);
}

type Table = Readonly<Record<string, unknown>>;

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
