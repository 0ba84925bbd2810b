/** What the conversation says about the turn at hand: the newest request, and what its tool calls gave so far. */
import { type Message, plainText, text, type UserMessage } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import type { ToolFact } from "./plan.js";

export interface CurrentTurn {
  readonly request: string;
  readonly facts: readonly ToolFact[];
  /** Nothing was answered before in this conversation. */
  readonly first: boolean;
}

/**
 * `isRequest` judges text that came along with tool results: a person may have steered, or the harness may have added a note
 * that is nothing to act on.
 */
export function readCurrentTurn(messages: readonly Message[], isRequest: (text: string) => boolean): CurrentTurn {
  const at = messages.findLastIndex((message) => message.role === "user" && startsTurn(message, isRequest));
  const start = messages[at];
  return {
    request: start?.role === "user" ? requestText(start) : "",
    facts: factsOf(messages.slice(at + 1)),
    first: !messages.slice(0, Math.max(at, 0)).some((message) => message.role === "assistant"),
  };
}

function startsTurn(message: UserMessage, isRequest: (text: string) => boolean): boolean {
  const said = requestText(message);
  if (said === "") return false;
  return message.content.every((block) => block.type !== "tool_result") || isRequest(said);
}

/** Context that the harness puts around a request (instructions, memory) comes in such blocks; it is not the request. */
const WRAPPED = /<((?:untrusted|system)-[\w-]+)[^>]*>[\s\S]*?<\/\1[^>]*>/g;

function requestText(message: UserMessage): string {
  const texts = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n").replace(WRAPPED, "").trim();
}

type Block = Message["content"][number];

function factsOf(messages: readonly Message[]): ToolFact[] {
  const calls = new Map<string, JsonObject>();
  const facts: ToolFact[] = [];
  for (const block of messages.flatMap((message): readonly Block[] => message.content)) {
    if (block.type === "tool_use") calls.set(block.call, block.args);
    const args = block.type === "tool_result" ? calls.get(block.call) : undefined;
    if (block.type !== "tool_result" || args === undefined) continue;
    const parts = block.content.map((part) => (part.type === "text" ? text(unwrapped(part.text)) : part));
    facts.push({ tool: block.tool, args, text: plainText(parts), failed: block.is_error });
  }
  return facts;
}

/** Results may come inside a marked block that says they are not to be trusted; the parsers want what is inside. */
function unwrapped(text: string): string {
  const match = /^\s*<(untrusted-[\w-]+)[^>]*>\n?([\s\S]*?)\n?<\/\1[^>]*>\s*$/.exec(text);
  return match?.[2] ?? text;
}
