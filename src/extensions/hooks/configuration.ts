/**
 * Hooks as people write them: the tables of a profile, and the `hooks` of Claude Code's and Codex' settings.
 *
 * 1. A bad entry is left out with a message; the others work.
 * 2. A hook that is written twice for an event runs once.
 */
import type { ExtensionScope } from "../../base/extension-files.js";
import { HOOK_EVENTS, type HookEvent, hookEvent, isAboutTools, unknownEvent } from "./hook-events.js";
import { commandOf, type HookHandler, readHandler } from "./hook-handler.js";
import { parseMatcher } from "./matcher.js";

export interface ConfiguredHook {
  readonly event: HookEvent;
  /** As it was written; undefined matches everything. */
  readonly matcher: string | undefined;
  /** A permission rule that the call must match. */
  readonly condition?: string;
  readonly handler: HookHandler;
  readonly timeoutMs: number;
  /** Only until its first success in a session. */
  readonly once: boolean;
  /** Oxbow does not wait for it. Its context comes with a later request. */
  readonly inBackground: boolean;
  /** In the background, exit code 2 tells the model why. */
  readonly wakes: boolean;
  /** Holds what the model reads before that reason. */
  readonly wakeMessage?: string;
  /** For the user while it runs. */
  readonly statusMessage?: string;
  /** A failure of the hook counts as a refusal. */
  readonly refusesOnFailure: boolean;
  /** The user runs it in the sandbox. */
  readonly sandbox: boolean;
  readonly scope: ExtensionScope;
  /** The file, for messages. */
  readonly path: string;
  /** Of a hook of a skill: the folder with the skill's files. Of a hook in front matter: whether the skill or command is in use. */
  readonly folder?: string;
  readonly isActive?: () => boolean;
  /** The folder of the plugin that it belongs to. */
  readonly pluginRoot?: string;
}

export interface HookEntries {
  readonly scope: ExtensionScope;
  readonly path: string;
  /** `PreToolUse` for `hooks.PreToolUse`; a table of a profile may name its event itself. */
  readonly event: string;
  readonly value: unknown;
  /** The folder of the plugin that the file belongs to. */
  readonly pluginRoot?: string;
}

export interface ReadHooks {
  readonly hooks: readonly ConfiguredHook[];
  readonly problems: readonly string[];
}

const LONGEST_MS = 3_600_000;
/** A model takes longer than most programs. */
const PROMPT_MS = 30_000;
const AGENT_MS = 60_000;

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
  if (event === undefined) return [unknownEvent(name)];
  // An event without a matcher ignores it.
  const matcher = HOOK_EVENTS[event].matcher === "none" ? undefined : group.matcher;
  if (matcher !== undefined && matcher !== null && typeof matcher !== "string")
    return [`the matcher of a ${event} hook is not text.`];
  const problem = typeof matcher === "string" ? parseMatcher(matcher).problem : undefined;
  if (problem !== undefined) return [`${event}: ${problem}`];
  const place = { event, entry, matcher: matcher ?? undefined };
  // A handler without a group, as profiles write it: { event = "Stop", cmd = "…" }.
  if (group.hooks === undefined && commandOf(group) !== undefined)
    return [readHook({ type: "command", ...group }, place)];
  if (!Array.isArray(group.hooks)) return [`a group of ${event} has no list "hooks".`];
  return group.hooks.map((handler) =>
    isTable(handler) ? readHook(handler, place) : `a hook for ${event} is not a table.`,
  );
}

interface HandlerPlace {
  readonly event: HookEvent;
  readonly entry: HookEntries;
  readonly matcher: string | undefined;
}

function readHook(written: Table, { event, entry, matcher }: HandlerPlace): Found {
  const handler = readHandler(written, event);
  if (typeof handler === "string") return handler;
  const timeoutMs = timeoutOf(written);
  if (timeoutMs === undefined) return `the timeout of a ${event} hook is not a positive number.`;
  const condition = typeof written.if === "string" && written.if.trim() !== "" ? written.if : undefined;
  if (condition !== undefined && !isAboutTools(event))
    return `a ${event} hook with "if" never runs: only hooks of calls can have a condition.`;
  const status = written.statusMessage;
  return {
    ...{ event, matcher, handler },
    ...(condition !== undefined && { condition }),
    timeoutMs: Math.min(timeoutMs === "default" ? defaultTimeout(event, handler) : timeoutMs, LONGEST_MS),
    // Claude Code ignores it in settings files, where a hook that runs only once would be a surprise.
    once: written.once === true && !entry.path.endsWith(".json"),
    inBackground: handler.type === "command" && (written.async === true || written.asyncRewake === true),
    wakes: written.asyncRewake === true,
    ...(typeof written.rewakeMessage === "string" && { wakeMessage: written.rewakeMessage }),
    ...(typeof status === "string" && status.trim() !== "" && { statusMessage: status }),
    refusesOnFailure: written.onFailure === "block" || written.on_failure === "block",
    sandbox: written.sandbox === true,
    scope: entry.scope,
    path: entry.path,
    ...(entry.pluginRoot !== undefined && { pluginRoot: entry.pluginRoot }),
  };
}

function defaultTimeout(event: HookEvent, { type }: HookHandler): number {
  if (type === "prompt") return PROMPT_MS;
  return type === "agent" ? AGENT_MS : HOOK_EVENTS[event].deadlineMs;
}

/** Seconds, or milliseconds as `timeout_ms`. */
function timeoutOf({ timeout, timeout_ms }: Table): number | "default" | undefined {
  if (timeout === undefined && timeout_ms === undefined) return "default";
  const ms = typeof timeout_ms === "number" ? timeout_ms : typeof timeout === "number" ? timeout * 1000 : Number.NaN;
  return ms > 0 ? ms : undefined;
}

/** The same line of two plugins runs two programs. */
function identityOf({ event, matcher, condition, handler, pluginRoot }: ConfiguredHook): string {
  return JSON.stringify([event, matcher ?? "", condition ?? "", handler, pluginRoot ?? ""]);
}

type Table = Readonly<Record<string, unknown>>;

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
