/** The events of hooks: when they happen here, and how long a hook may take. */

/** What the matcher of an event tests; `none`: the event has no matcher. */
export type MatcherSubject = "tool" | "source" | "trigger" | "reason" | "type" | "agent" | "none";

interface EventTraits {
  readonly deadlineMs: number;
  readonly matcher: MatcherSubject;
}

const event = (seconds: number, matcher: MatcherSubject): EventTraits => ({ deadlineMs: seconds * 1000, matcher });

export const HOOK_EVENTS = {
  SessionStart: event(5, "source"),
  UserPromptSubmit: event(5, "none"),
  PreToolUse: event(30, "tool"),
  PermissionRequest: event(30, "tool"),
  PermissionDenied: event(5, "tool"),
  PostToolUse: event(30, "tool"),
  PostToolUseFailure: event(30, "tool"),
  Notification: event(5, "type"),
  PreCompact: event(60, "trigger"),
  PostCompact: event(60, "trigger"),
  SubagentStart: event(5, "agent"),
  SubagentStop: event(5, "agent"),
  Stop: event(5, "none"),
  StopFailure: event(5, "reason"),
  SessionEnd: event(1.5, "reason"),
} as const satisfies Readonly<Record<string, EventTraits>>;

export type HookEvent = keyof typeof HOOK_EVENTS;

/** Other names of the same moments. */
const ALIASES: Readonly<Record<string, HookEvent>> = { Compact: "PreCompact" };

/** Undefined if the event does not exist in Oxbow. */
export function hookEvent(name: string): HookEvent | undefined {
  if (Object.hasOwn(ALIASES, name)) return ALIASES[name];
  return Object.hasOwn(HOOK_EVENTS, name) ? (name as HookEvent) : undefined;
}
