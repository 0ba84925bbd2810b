/** Describes what the items of a Codex rollout hold: they are those of the model's API, with words of the program among the user's. */
import type { ResultContent } from "../../protocol/content.js";
import { plainText, text } from "../../protocol/content.js";
import type { ToolStatus } from "../../protocol/events.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type { Usage } from "../../protocol/usage.js";
import { asArray, asCount, asObject, asString } from "./fields.js";
import { type ForeignCall, imageFromUrl } from "./foreign-session.js";

/** Items that a line of the older form may be. */
export const ITEM_KINDS: ReadonlySet<string> = new Set([
  "agent_message",
  "compaction",
  "compaction_summary",
  "context_compaction",
  "custom_tool_call",
  "custom_tool_call_output",
  "function_call",
  "function_call_output",
  "image_generation_call",
  "local_shell_call",
  "message",
  "reasoning",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
]);

/** Empty if a part of it cannot be read: then it replaces nothing. */
export function historyText(items: readonly JsonValue[]): string {
  const messages = items.map(asObject).filter(({ role }) => role === "user" || role === "assistant");
  if (messages.length < items.filter((item) => asObject(item).role !== "developer").length) return "";
  const words = messages.flatMap(({ content }) => contentOf(content));
  return plainText(
    words.flatMap((part) => (part.type === "text" && !isContext(part.text) ? [text(`${part.text}\n\n`)] : [])),
  ).trim();
}

/** Parts of user messages that the program wrote: one of its tags around all of it. */
export function isContext(words: string): boolean {
  const trimmed = words.trim();
  if (trimmed.startsWith("# AGENTS.md instructions")) return trimmed.endsWith("</INSTRUCTIONS>");
  const tag = /^<([a-z_]+)(?:\s[^>]*)?>/.exec(trimmed)?.[1];
  return tag !== undefined && CONTEXT_TAGS.has(tag) && trimmed.endsWith(`</${tag}>`);
}

const CONTEXT_TAGS: ReadonlySet<string> = new Set([
  "apps_instructions",
  "current_time_reminder",
  "environment_context",
  "environments_instructions",
  "image_resize_notice",
  "model_switch",
  "permissions_instructions",
  "personality_spec",
  "plugins_instructions",
  "recommended_plugins",
  "rollout_budget",
  "skill",
  "skills_instructions",
  "subagent_notification",
  "turn_aborted",
  "user_instructions",
  "user_shell_command",
]);

export function environmentFolder(words: string): string | undefined {
  return words.includes("<environment_context>") ? /<cwd>([^<\n]+)<\/cwd>/.exec(words)?.[1] : undefined;
}

export function toolOf({ type, name, namespace }: JsonObject): { tool: string } {
  if (type === "local_shell_call") return { tool: "local_shell" };
  if (type === "tool_search_call") return { tool: "tool_search" };
  return { tool: `${asString(namespace) ?? ""}${asString(name) ?? "unknown"}` };
}

export function argumentsOf(item: JsonObject): Pick<ForeignCall, "args" | "malformed"> {
  if (item.type === "custom_tool_call") return { args: { input: item.input ?? "" } };
  const given = item.type === "local_shell_call" ? item.action : item.arguments;
  if (isJsonObject(given)) return { args: given };
  if (typeof given !== "string") return { args: {} };
  if (given.trim() === "") return { args: {} };
  try {
    const args: unknown = JSON.parse(given);
    if (isJsonObject(args)) return { args };
  } catch {
    // Kept unchanged, below.
  }
  return { args: {}, malformed: given };
}

export function outputOf(output: JsonValue | undefined): readonly ResultContent[] {
  if (typeof output === "string") return [text(output)];
  if (Array.isArray(output)) return contentOf(output);
  const { content, content_items } = asObject(output);
  return typeof content === "string" ? [text(content)] : contentOf(content_items ?? content);
}

const EXIT_CODE = /^(?:Exit code:|Process exited with code)\s*(-?\d+)\s*$/m;
/** Results of the shell begin with some lines about the command, or are JSON with them at the end. */
const HEAD = 400;

export function statusOf(output: string, success: JsonValue | undefined): ToolStatus {
  const head = output.slice(0, HEAD);
  if (/^(?:Wall time: [^\n]*\n)?(?:command )?aborted by user/.test(head)) return "cancelled";
  if (/^(?:exec command|patch)? ?rejected by user/.test(head)) return "denied";
  if (success === false) return "error";
  const code = EXIT_CODE.exec(head)?.[1] ?? /"metadata":\{"exit_code":(-?\d+)/.exec(output)?.[1];
  return code === undefined || code === "0" ? "ok" : "error";
}

export function usageOf(usage: JsonObject): Usage {
  const read = asCount(usage.cached_input_tokens);
  const written = asCount(usage.cache_write_input_tokens);
  return {
    input: Math.max(0, asCount(usage.input_tokens) - read - written),
    output: asCount(usage.output_tokens),
    cache_read: read,
    cache_write: written,
    reasoning: asCount(usage.reasoning_output_tokens),
  };
}

export function contentOf(content: JsonValue | undefined): ResultContent[] {
  if (typeof content === "string") return content === "" ? [] : [text(content)];
  return asArray(content).flatMap((item): ResultContent[] => {
    const part = asObject(item);
    if (typeof part.text === "string") return part.text === "" ? [] : [text(part.text)];
    if (part.type === "input_image") {
      return [imageFromUrl(asString(part.image_url) ?? "") ?? text("[An image is not in this copy.]")];
    }
    return [text(`[A part of the kind ${asString(part.type) ?? "unknown"} is not in this copy.]`)];
  });
}
