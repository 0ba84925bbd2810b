/** Messages in which other results replace those of the same calls. Only the newest messages with results are searched. */
import type { Message, ToolResultBlock } from "../protocol/content.js";

export function withChangedResults(messages: readonly Message[], changes: readonly ToolResultBlock[]): Message[] {
  const byCall = new Map(changes.map((change) => [change.call, change]));
  const at = lastResultsIn(messages);
  return messages.map((message, index) => {
    if (index !== at || message.role !== "user") return message;
    const content = message.content.map((block) =>
      block.type === "tool_result" ? (byCall.get(block.call) ?? block) : block,
    );
    return { ...message, content };
  });
}

/** The newest results of calls; input during the turn may follow them. */
export function lastResults(messages: readonly Message[]): readonly ToolResultBlock[] {
  const content = messages[lastResultsIn(messages)]?.content ?? [];
  return content.flatMap((block) => (block.type === "tool_result" ? [block] : []));
}

function lastResultsIn(messages: readonly Message[]): number {
  const isAnswer = ({ role }: Message) => role === "assistant";
  const from = messages.findLastIndex(isAnswer) + 1;
  const found = messages.slice(from).findLastIndex(({ content }) => content.some(({ type }) => type === "tool_result"));
  return found === -1 ? -1 : from + found;
}
