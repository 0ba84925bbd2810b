/** A call as an editor shows it: a title, a kind, places in files and what it changes. */
import { resolve } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolCallUpdate, ToolKind } from "@agentclientprotocol/sdk";
import { safeLine } from "../../../base/terminal-text.js";
import type { ResultContent } from "../../../protocol/content.js";
import type { EventPayloads, ToolStatus } from "../../../protocol/events.js";
import type { JsonObject } from "../../../protocol/json.js";
import { changedPaths, proposedDiffs, resultDiffs } from "./diff-content.js";

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  ls: "search",
  glob: "search",
  grep: "search",
  write: "edit",
  edit: "edit",
  apply_patch: "edit",
  bash: "execute",
  background: "execute",
  web_fetch: "fetch",
  web_search: "fetch",
  todo: "think",
  ask: "think",
  agent: "think",
};

export function kindOf(tool: string): ToolKind {
  return KINDS[tool] ?? "other";
}

const MOST_TITLE = 160;

type Started = EventPayloads["ToolCallStarted"];

/** What an editor shows of a call before it has run. */
export function pendingCall({ call, tool, args }: Started) {
  return {
    toolCallId: call,
    title: titleOf(tool, args),
    name: tool,
    kind: kindOf(tool),
    status: "pending",
    rawInput: args,
  } as const;
}

/** A call that begins. */
export function startedCall({ call, tool, args }: Started, cwd: string): ToolCall {
  const diffs = proposedDiffs(args, cwd);
  return {
    ...pendingCall({ call, tool, args }),
    ...(diffs.length > 0 && { content: [...diffs] }),
    ...located(locationsOf(args, cwd)),
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

export function endedCall(result: EventPayloads["ToolResult"], cwd: string): ToolCallUpdate {
  const { call, tool, status, content, details } = result;
  const diffs = resultDiffs(details, cwd);
  const paths = kindOf(tool) === "edit" ? changedPaths(details, cwd) : [];
  return {
    toolCallId: call,
    status: STATUSES[status],
    content: diffs.length > 0 ? [...diffs] : content.map((block) => resultContent(block, tool)),
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

const PLAIN: ReadonlySet<string> = new Set(["todo", "agent", "write", "edit", "apply_patch"]);

function resultContent(block: ResultContent, tool: string): ToolCallContent {
  if (block.type === "image") {
    return { type: "content", content: { type: "image", mimeType: block.media_type, data: block.data } };
  }
  return block.own === true || PLAIN.has(tool) ? textContent(block.text) : quotedContent(block.text);
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

export function titleOf(tool: string, args: JsonObject): string {
  const title = safeLine(wordsFor(tool, args));
  return title.length > MOST_TITLE ? `${title.slice(0, MOST_TITLE - 1)}…` : title;
}

function wordsFor(tool: string, args: JsonObject): string {
  const word = (name: string) => (typeof args[name] === "string" ? args[name] : "");
  switch (tool) {
    case "read":
      return `Read ${word("path")}`;
    case "ls":
      return `List ${word("path") || "."}`;
    case "glob":
      return `Find ${word("pattern")}`;
    case "grep":
      return `Search for ${word("pattern")}`;
    case "write":
      return `Write ${word("path")}`;
    case "edit":
      return `Edit ${word("path")}`;
    case "apply_patch":
      return `Patch ${patchedPaths(word("patch")).join(", ")}`;
    case "bash":
      return `\`${word("command").replaceAll("`", "'")}\``;
    case "web_fetch":
      return `Fetch ${word("url")}`;
    case "web_search":
      return `Search the web for ${word("query")}`;
    case "todo":
      return "Update the plan";
    default:
      return [tool, word("description") || firstText(args)].filter((part) => part !== "").join(": ");
  }
}

function firstText(args: JsonObject): string {
  const [first] = Object.values(args).filter((value) => typeof value === "string");
  return first ?? "";
}
