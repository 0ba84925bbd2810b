/** The rest of a message file after its content has expired, like sessions/expired.ts for an event. */
import type { AssistantBlock } from "../../protocol/content.js";
import { text } from "../../protocol/content.js";
import { EXPIRED } from "../../protocol/events.js";
import { type MessageEntry, renderMessage } from "./message-file.js";

/** `entry` is undefined if the file could not be parsed: then nothing of it stays. */
export function withoutWords(entry: MessageEntry | undefined, seq: number): string {
  if (entry === undefined) return `${EXPIRED}\n`;
  if (entry.role !== "assistant") return renderMessage({ ...entry, seq, content: [text(EXPIRED)] });
  return renderMessage({ ...entry, seq, content: entry.content.flatMap(remains) });
}

function remains(block: AssistantBlock): AssistantBlock[] {
  switch (block.type) {
    case "text":
      return [text(EXPIRED)];
    case "thinking":
      return [{ type: "thinking", text: EXPIRED, provider: block.provider }];
    case "tool_use":
      return [{ type: "tool_use", call: block.call, tool: block.tool, args: {} }];
    case "opaque":
      return [];
    case "yield":
      return [block];
  }
}
