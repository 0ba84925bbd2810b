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
  PostToolBatch: event(30, "none"),
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

/** Events of Claude Code that have no counterpart here, so that a message can tell them from a misspelt name. */
const ELSEWHERE =
  "Setup InstructionsLoaded UserPromptExpansion MessageDisplay TaskCreated TaskCompleted TeammateIdle WorktreeCreate WorktreeRemove Elicitation ElicitationResult ConfigChange CwdChanged FileChanged DirectoryAdded PreModelSwitch PostModelSwitch".split(
    " ",
  );

/** Why hooks of this name do not run. */
export function unknownEvent(name: string): string {
  if (ELSEWHERE.includes(name)) return `the event ${name} does not happen in Oxbow, so its hooks do not run.`;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, "");
  const meant = Object.keys(HOOK_EVENTS).find((known) => plain(known) === plain(name));
  const advice = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return `there is no event ${name || "(none)"}, so its hooks do not run.${advice}`;
}

/** Whether hooks of the event may ask a model. Elsewhere its verdict could decide nothing. */
export function takesModels(name: HookEvent): boolean {
  return MODEL_EVENTS.has(name);
}

/** The start of a session does not wait for other machines. */
export function takesRequests(name: HookEvent): boolean {
  return name !== "SessionStart";
}

export function isAboutTools(name: HookEvent): boolean {
  return HOOK_EVENTS[name].matcher === "tool";
}

const MODEL_EVENTS: ReadonlySet<HookEvent> = new Set([
  ...(["PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure"] as const),
  ...(["PostToolBatch", "UserPromptSubmit", "Stop", "SubagentStop"] as const),
]);
