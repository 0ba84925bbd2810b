/** The events of hooks: when they happen here, and how long a hook may take. */

/** Describes what the matcher of an event tests; `none`: the event has no matcher. */
export type MatcherSubject =
  | ("tool" | "source" | "trigger" | "reason" | "type" | "agent")
  | ("command" | "model" | "server" | "file" | "none");

interface EventTraits {
  readonly deadlineMs: number;
  readonly matcher: MatcherSubject;
}

const event = (seconds: number, matcher: MatcherSubject): EventTraits => ({ deadlineMs: seconds * 1000, matcher });

export const HOOK_EVENTS = {
  Setup: event(30, "trigger"),
  SessionStart: event(5, "source"),
  InstructionsLoaded: event(5, "reason"),
  UserPromptExpansion: event(5, "command"),
  UserPromptSubmit: event(5, "none"),
  PreToolUse: event(30, "tool"),
  PermissionRequest: event(30, "tool"),
  PermissionDenied: event(5, "tool"),
  PostToolUse: event(30, "tool"),
  PostToolUseFailure: event(30, "tool"),
  PostToolBatch: event(30, "none"),
  TaskCreated: event(5, "none"),
  TaskCompleted: event(30, "none"),
  Elicitation: event(30, "server"),
  ElicitationResult: event(30, "server"),
  Notification: event(5, "type"),
  MessageDisplay: event(5, "none"),
  FileChanged: event(5, "file"),
  ConfigChange: event(5, "source"),
  PreModelSwitch: event(30, "model"),
  PostModelSwitch: event(30, "model"),
  PreCompact: event(60, "trigger"),
  PostCompact: event(60, "trigger"),
  SubagentStart: event(5, "agent"),
  SubagentStop: event(5, "agent"),
  WorktreeCreate: event(60, "none"),
  WorktreeRemove: event(30, "none"),
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

/** Events of Claude Code that do not happen here, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  TeammateIdle: "it has no teammates",
  CwdChanged: "a session stays in its folder",
  DirectoryAdded: "a person adds folders, and no hook decides about it",
};

/** Tells why hooks of this name do not run. */
export function unknownEvent(name: string): string {
  const why = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
  if (why !== undefined) return `the event ${name} does not happen in Oxbow: ${why}. Its hooks do not run.`;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, "");
  const meant = Object.keys(HOOK_EVENTS).find((known) => plain(known) === plain(name));
  const advice = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return `there is no event ${name || "(none)"}, so its hooks do not run.${advice}`;
}

/** Tells whether hooks of the event may ask a model. Elsewhere its verdict could decide nothing. */
export function takesModels(name: HookEvent): boolean {
  return MODEL_EVENTS.has(name);
}

/** The start of a session does not wait for other machines. */
export function takesRequests(name: HookEvent): boolean {
  return name !== "SessionStart" && name !== "Setup";
}

/** Tells whether a hook of the event gets a file for variables of later commands. */
export function takesVariables(name: HookEvent): boolean {
  return name === "SessionStart" || name === "Setup" || name === "FileChanged";
}

/** Tells whether the action does not happen if a hook is late. */
export function needsAnswer(name: HookEvent): boolean {
  return name === "PreModelSwitch" || name === "WorktreeCreate";
}

export function isAboutTools(name: HookEvent): boolean {
  return HOOK_EVENTS[name].matcher === "tool";
}

const MODEL_EVENTS: ReadonlySet<HookEvent> = new Set([
  ...(["PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure"] as const),
  ...(["PostToolBatch", "UserPromptSubmit", "Stop", "SubagentStop"] as const),
  ...(["TaskCreated", "TaskCompleted"] as const),
]);

type NamedModel = { readonly provider: string; readonly model: string };

/** Describes a change of the model for hooks. */
export function switchInput(from: NamedModel, to: NamedModel) {
  const before = { from_model: from.model, from_provider: from.provider };
  return { ...before, to_model: to.model, to_provider: to.provider };
}
