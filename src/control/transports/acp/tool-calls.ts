/** A call as an editor shows it: a title, a kind, places in files and what it changes. */
import { resolve } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolCallUpdate, ToolKind } from "@agentclientprotocol/sdk";
import { safeLine } from "../../../base/terminal-text.js";
import type { ResultContent } from "../../../protocol/content.js";
import type { EventPayloads, ToolKind as OwnKind, ToolStatus } from "../../../protocol/events.js";
import type { JsonObject } from "../../../protocol/json.js";
import { changedPaths, proposedDiffs, resultDiffs } from "./diff-content.js";

const KINDS: Readonly<Record<OwnKind, ToolKind>> = {
  read: "read",
  list: "search",
  search: "search",
  edit: "edit",
  run: "execute",
  fetch: "fetch",
  plan: "think",
  ask: "think",
};

/** Results of these are in Oxbow's own words, or those of another model. */
const PLAIN: ReadonlySet<OwnKind | undefined> = new Set<OwnKind>(["edit", "plan", "ask"]);

const MOST_TITLE = 160;

type Started = EventPayloads["ToolCallStarted"];

/** Tells what an editor shows of a call before it has run. */
export function pendingCall(started: Started) {
  const { call, tool, tool_kind: kind, args } = started;
  return {
    toolCallId: call,
    title: titleOf(started),
    name: tool,
    kind: kind === undefined ? "other" : KINDS[kind],
    status: "pending",
    rawInput: args,
  } as const;
}

/** A call that begins. */
export function startedCall(started: Started, cwd: string): ToolCall {
  const diffs = proposedDiffs(started.args, cwd);
  return {
    ...pendingCall(started),
    ...(diffs.length > 0 && { content: [...diffs] }),
    ...located(locationsOf(started.args, cwd)),
  };
}

const STATUSES: Readonly<Record<ToolStatus, "completed" | "failed">> = {
  ok: "completed",
  error: "failed",
  denied: "failed",
  cancelled: "failed",
  timeout: "failed",
  skipped: "failed",
};

/** `kind`: the one of its tool. */
export function endedCall(
  { call, status, content, details }: EventPayloads["ToolResult"],
  { kind, cwd }: { readonly kind: OwnKind | undefined; readonly cwd: string },
): ToolCallUpdate {
  const diffs = resultDiffs(details, cwd);
  const paths = kind === "edit" ? changedPaths(details, cwd) : [];
  return {
    toolCallId: call,
    status: STATUSES[status],
    content: diffs.length > 0 ? [...diffs] : content.map((block) => resultContent(block, kind)),
    ...located(paths.map((path) => ({ path }))),
    rawOutput: { status, ...(details !== undefined && { details }) },
  };
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** Output of programs and files is no Markdown. */
export function quotedContent(text: string): ToolCallContent {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([fence]) => fence.length));
  const fence = "`".repeat(longest + 1);
  return textContent(`${fence}\n${text.replace(/\n$/, "")}\n${fence}`);
}

function resultContent(block: ResultContent, kind: OwnKind | undefined): ToolCallContent {
  if (block.type === "image") {
    return { type: "content", content: { type: "image", mimeType: block.media_type, data: block.data } };
  }
  return block.own === true || PLAIN.has(kind) ? textContent(block.text) : quotedContent(block.text);
}

function located(locations: readonly ToolCallLocation[]): { readonly locations?: ToolCallLocation[] } {
  return locations.length === 0 ? {} : { locations: [...locations] };
}

function locationsOf({ path, offset, patch }: JsonObject, cwd: string): readonly ToolCallLocation[] {
  if (typeof path === "string" && path !== "") {
    return [
      { path: resolve(cwd, path), ...(typeof offset === "number" && offset > 0 && { line: Math.trunc(offset) }) },
    ];
  }
  return typeof patch === "string" ? patchedPaths(patch).map((name) => ({ path: resolve(cwd, name) })) : [];
}

function patchedPaths(patch: string): readonly string[] {
  return [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, name = ""]) => name.trim());
}

type Titled = Pick<Started, "tool" | "tool_kind" | "args">;

export function titleOf(call: Titled): string {
  const title = safeLine(wordsFor(call));
  return title.length > MOST_TITLE ? `${title.slice(0, MOST_TITLE - 1)}…` : title;
}

function wordsFor({ tool, tool_kind: kind, args }: Titled): string {
  const has = (name: string) => typeof args[name] === "string";
  const word = (name: string) => (typeof args[name] === "string" ? args[name] : "");
  switch (kind) {
    case "read":
      return `Read ${word("path")}`;
    case "list":
      return `List ${word("path") || "."}`;
    case "search":
      return `Search for ${word("pattern")}`;
    case "edit":
      if (has("patch")) return `Patch ${patchedPaths(word("patch")).join(", ")}`;
      return `${has("content") ? "Write" : "Edit"} ${word("path")}`;
    case "run":
      return `\`${word("command").replaceAll("`", "'")}\``;
    case "fetch":
      return has("query") ? `Search the web for ${word("query")}` : `Fetch ${word("url")}`;
    case "plan":
      return "Update the plan";
  }
  return [tool, word("description") || firstText(args)].filter((part) => part !== "").join(": ");
}

function firstText(args: JsonObject): string {
  const [first] = Object.values(args).filter((value) => typeof value === "string");
  return first ?? "";
}
