/**
 * The answers of hooks: the exit code and JSON on stdout.
 *
 * 1. Exit code 2 refuses, with stderr as the reason if the JSON has none; no JSON takes the refusal back. With any other exit code a JSON
 *    object counts as with 0, and without one the hook has failed and changes nothing.
 * 2. The strictest decision of several hooks counts: deny, ask, allow. Texts keep the order of the hooks.
 * 3. An answer that is not understood changes nothing and is reported.
 */
import { MOST_ARGUMENT_LEVELS, nestingOf } from "../../base/json-nesting.js";
import { safeText } from "../../base/terminal-text.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import type { HookEvent } from "./hook-events.js";
import type { HookOutput } from "./run-hook.js";

export type HookDecision = "allow" | "ask" | "deny";

export interface HookAnswer {
  readonly decision?: HookDecision;
  /** For the decision or the refusal. */
  readonly reason?: string;
  /** It refuses: the input, the end of the turn, the compaction. */
  readonly refuses?: true;
  /** The turn must end, for this reason. */
  readonly stop?: string;
  /** For the model. */
  readonly context?: string;
  /** For the user. */
  readonly message?: string;
  readonly updatedInput?: JsonObject;
  readonly updatedOutput?: string;
  /** The answer to a question of an MCP server. */
  readonly elicited?: ElicitedAnswer;
  /** The folder that the hook made. */
  readonly folder?: MadeFolder;
  /** Files whose changes the hook wants to know. */
  readonly watched?: readonly string[];
  /** The hook's answer is not valid. */
  readonly problem?: string;
}

export interface MadeFolder {
  readonly path: string;
  /** The project can change the hook that made it. */
  readonly isOfProject?: true;
}

export interface ElicitedAnswer {
  readonly action: "accept" | "cancel" | "decline";
  readonly content?: JsonObject;
}

/** On these, plain text on stdout is for the model. */
const TEXT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set([
  ...(["Setup", "SessionStart", "SubagentStart"] as const),
  ...(["UserPromptExpansion", "UserPromptSubmit", "PostModelSwitch"] as const),
]);
/** On these, a refusal decides about a call. */
const DECIDES: ReadonlySet<HookEvent> = new Set(["PreToolUse", "PermissionRequest", "PreModelSwitch"]);

/** On these, a refusal is only a message for the user. */
const ONLY_TOLD: ReadonlySet<HookEvent> = new Set([
  ...(["Setup", "SessionStart", "SubagentStart", "SessionEnd", "PostCompact"] as const),
  ...(["PostModelSwitch", "FileChanged", "WorktreeRemove"] as const),
]);
const IGNORES_CODE: ReadonlySet<HookEvent> = new Set([
  ...(["Notification", "PermissionDenied", "StopFailure", "InstructionsLoaded", "MessageDisplay"] as const),
]);

export function readAnswer(event: HookEvent, { exitCode, stdout, stderr }: HookOutput): HookAnswer {
  const printed = stdout.trim();
  const json = printed.startsWith("{") ? parsed(printed) : undefined;
  if (event === "WorktreeCreate") return madeFolder(json, { exitCode, stdout: printed, stderr });
  if (exitCode === 2) return refused(event, json, clean(stderr));
  if (json !== undefined) return readJson(event, json);
  if (exitCode !== 0) return { problem: firstLine(stderr) ?? `it ended with exit code ${exitCode}` };
  if (printed === "") return {};
  if (TEXT_IS_CONTEXT.has(event)) return { context: clean(printed) };
  return printed.startsWith("{") ? { problem: "it printed text that begins like JSON but is not JSON" } : {};
}

/** The hook works instead of git, so without a folder there is none. */
function madeFolder(json: JsonObject | undefined, { exitCode, stdout, stderr }: HookOutput): HookAnswer {
  if (exitCode !== 0)
    return { refuses: true, reason: firstLine(stderr) ?? `the hook ended with exit code ${exitCode}` };
  const said = json === undefined ? {} : readJson("WorktreeCreate", json);
  const specific = isJsonObject(json?.hookSpecificOutput) ? json.hookSpecificOutput : {};
  const folder = json === undefined ? stdout.split("\n").at(-1)?.trim() : textOf(specific.worktreePath);
  return folder
    ? { ...said, folder: { path: folder } }
    : { ...said, refuses: true, reason: "the hook printed no path" };
}

function refused(event: HookEvent, json: JsonObject | undefined, errors: string): HookAnswer {
  // Nothing can be refused there; the user sees the hook's words.
  if (ONLY_TOLD.has(event)) return { problem: firstLine(errors) ?? "it ended with exit code 2" };
  if (IGNORES_CODE.has(event)) return {};
  const said = json === undefined ? {} : readJson(event, json);
  const isRefusal = said.decision === "deny" || said.refuses === true;
  const { decision: _, problem: __, ...rest } = said;
  return isRefusal ? said : { ...rest, ...refusal(event, errors || said.reason || "The hook gave no reason.") };
}

function refusal(event: HookEvent, reason: string): HookAnswer {
  return DECIDES.has(event) ? { decision: "deny", reason } : { refuses: true, reason };
}

function readJson(event: HookEvent, json: JsonObject): HookAnswer {
  const specific = isJsonObject(json.hookSpecificOutput) ? json.hookSpecificOutput : {};
  const message = textOf(json.systemMessage);
  const stopped = json.continue === false;
  const stop = stopped ? (textOf(json.stopReason) ?? "A hook stopped the turn.") : undefined;
  const common = { ...(message && { message }), ...(stop && { stop }) };
  const named = specific.hookEventName;
  if (typeof named === "string" && named !== event)
    return { ...common, ...legacyDecision(event, json), problem: `it answered ${named} to ${event}` };
  const context = textOf(specific.additionalContext);
  const output = specific.updatedToolOutput ?? specific.updatedMCPToolOutput;
  return {
    ...common,
    ...(context && { context }),
    ...(isJsonObject(specific.updatedInput) && { updatedInput: specific.updatedInput }),
    ...(output !== undefined && output !== null && { updatedOutput: clean(asText(output)) }),
    ...watchedOf(specific),
    ...elicitedOf(event, specific),
    ...decisionOf(event, json, specific),
  };
}

const MOST_WATCHED = 200;

function watchedOf({ watchPaths }: JsonObject): HookAnswer {
  if (!Array.isArray(watchPaths)) return {};
  const isPath = (path: unknown): path is string =>
    typeof path === "string" && path.startsWith("/") && !path.includes("\0");
  return { watched: watchPaths.filter(isPath).slice(0, MOST_WATCHED) };
}

function elicitedOf(event: HookEvent, { action, content }: JsonObject): HookAnswer {
  if (event !== "Elicitation" && event !== "ElicitationResult") return {};
  if (action !== "accept" && action !== "cancel" && action !== "decline")
    return action === undefined ? {} : { problem: `it answered ${JSON.stringify(action)}` };
  return { elicited: { action, ...(isJsonObject(content) && { content }) } };
}

function decisionOf(event: HookEvent, json: JsonObject, specific: JsonObject): HookAnswer {
  if (event === "PermissionRequest" && isJsonObject(specific.decision)) {
    const { behavior, message, updatedInput } = specific.decision;
    const reason = textOf(message) ?? textOf(json.reason) ?? "A hook decided.";
    const changed = isJsonObject(updatedInput) ? { problem: "a PermissionRequest hook cannot change the input" } : {};
    if (behavior === "deny") return { decision: "deny", reason, ...changed };
    return behavior === "allow" && !isJsonObject(updatedInput) ? { decision: "allow", reason } : changed;
  }
  const wanted = specific.permissionDecision;
  if ((event === "PreToolUse" || event === "PreModelSwitch") && typeof wanted === "string") {
    const reason = textOf(specific.permissionDecisionReason) ?? "A hook decided.";
    if (wanted === "allow" || wanted === "ask" || wanted === "deny") return { decision: wanted, reason };
    return wanted === "defer" ? { decision: "ask", reason } : { problem: `it decided ${JSON.stringify(wanted)}` };
  }
  return legacyDecision(event, json);
}

/** `decision` and `reason` beside `hookSpecificOutput`. */
function legacyDecision(event: HookEvent, { decision, reason }: JsonObject): HookAnswer {
  const text = textOf(reason) ?? "The hook gave no reason.";
  if (decision === "block" || decision === "deny") return refusal(event, text);
  if ((decision === "approve" || decision === "allow") && DECIDES.has(event))
    return { decision: "allow", reason: text };
  return decision === "ask" && DECIDES.has(event) ? { decision: "ask", reason: text } : {};
}

function parsed(text: string): JsonObject | undefined {
  try {
    if (nestingOf(text) > MOST_ARGUMENT_LEVELS) return undefined;
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? clean(value) : undefined;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function firstLine(text: string): string | undefined {
  return clean(text).split("\n", 1)[0] || undefined;
}

function clean(text: string): string {
  return safeText(text).trim();
}

const STRICTNESS: readonly HookDecision[] = ["allow", "ask", "deny"];

/** One answer of several hooks. */
export function joinAnswers(answers: readonly HookAnswer[]): HookAnswer {
  const decided = answers.reduce<HookAnswer>((worst, next) => (rank(next) > rank(worst) ? next : worst), {});
  const refusing = answers.filter(({ refuses }) => refuses);
  const reason = decided.decision === undefined ? texts(refusing.map((each) => each.reason)) : decided.reason;
  const stop = answers.find((answer) => answer.stop !== undefined)?.stop;
  const updatedInput = answers.findLast((answer) => answer.updatedInput !== undefined)?.updatedInput;
  const updatedOutput = answers.findLast((answer) => answer.updatedOutput !== undefined)?.updatedOutput;
  const folder = answers.find((answer) => answer.folder !== undefined)?.folder;
  const watched = answers.some((answer) => answer.watched)
    ? answers.flatMap((answer) => answer.watched ?? [])
    : undefined;
  const elicited = strictest(answers.flatMap((answer) => answer.elicited ?? []));
  const context = texts(answers.map((answer) => answer.context));
  const message = texts(answers.map((answer) => answer.message));
  return {
    ...(decided.decision !== undefined && { decision: decided.decision }),
    ...(refusing.length > 0 && { refuses: true as const }),
    ...(reason !== undefined && { reason }),
    ...(stop !== undefined && { stop }),
    ...(context !== undefined && { context }),
    ...(message !== undefined && { message }),
    ...(updatedInput !== undefined && { updatedInput }),
    ...(updatedOutput !== undefined && { updatedOutput }),
    ...(folder !== undefined && { folder }),
    ...(watched !== undefined && { watched }),
    ...(elicited !== undefined && { elicited }),
  };
}

function strictest(answers: readonly ElicitedAnswer[]): ElicitedAnswer | undefined {
  const of = (wanted: ElicitedAnswer["action"]) => answers.findLast(({ action }) => action === wanted);
  return of("decline") ?? of("cancel") ?? of("accept");
}

function rank({ decision }: HookAnswer): number {
  return decision === undefined ? -1 : STRICTNESS.indexOf(decision);
}

function texts(parts: readonly (string | undefined)[]): string | undefined {
  const distinct = [...new Set(parts.filter((part) => part !== undefined && part !== ""))];
  return distinct.length === 0 ? undefined : distinct.join("\n\n");
}

/** The answer without what only a hook of the user may say. */
export function withoutPermission({ elicited, folder, ...answer }: HookAnswer): HookAnswer {
  const kept: HookAnswer = {
    ...answer,
    ...(elicited !== undefined && elicited.action !== "accept" && { elicited }),
    ...(folder !== undefined && { folder: { ...folder, isOfProject: true as const } }),
  };
  if (kept.decision !== "allow") return kept;
  const { decision: _decision, reason: _reason, ...rest } = kept;
  return rest;
}
