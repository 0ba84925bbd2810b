/** The current turn in the conversation: the newest request, and the results of its tool calls so far. */
import { type Message, resultText, type TextBlock, text, type UserMessage } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import type { ToolFact } from "./plan.js";

export interface CurrentTurn {
  readonly request: string;
  readonly facts: readonly ToolFact[];
  /** The conversation has no answer yet. */
  readonly first: boolean;
}

/**
 * `isRequest` classifies text that came with tool results: the user may have steered, or the harness may have added a note that
 * needs no action.
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
  const request = requestText(message);
  if (request === "") return false;
  return message.content.every((block) => block.type !== "tool_result") || isRequest(request);
}

/** Matches the blocks of what others say beside a request (a hook, memory); it is not the request. */
const WRAPPED = /<((?:untrusted|approved|system)-[\w-]+)[^>]*>[\s\S]*?<\/\1[^>]*>/g;

function requestText(message: UserMessage): string {
  const texts = message.content.flatMap((block) => (block.type === "text" && !isOwn(block) ? [block.text] : []));
  return texts.join("\n").replace(WRAPPED, "").trim();
}

/** The harness's own notices: the branch, the date, plan mode. */
function isOwn(block: TextBlock): boolean {
  return "own" in block && block.own === true;
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
    facts.push({ tool: block.tool, args, text: resultText(parts), failed: block.is_error });
  }
  return facts;
}

/** Results may come inside a block that marks them as untrusted; the parsers need the text inside. */
function unwrapped(text: string): string {
  const match = /^\s*<(untrusted-[\w-]+)[^>]*>\n?([\s\S]*?)\n?<\/\1[^>]*>\s*$/.exec(text);
  return match?.[2] ?? text;
}
