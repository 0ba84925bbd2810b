/**
 * Describes where a conversation is cut: the older part is summarised, the rest stays unchanged.
 *
 * 1. A call and its result stay together: the kept part begins with an input or an answer, never with results.
 * 2. An unanswered input stays, however long it is.
 * 3. The kept part begins with a message whose position in the log is known, so that a resume finds it.
 */
import { originOf } from "../../base/message-origin.js";
import type { Message } from "../../protocol/content.js";

export interface Cut {
  readonly older: readonly Message[];
  readonly kept: readonly Message[];
}

export function cutConversation(
  messages: readonly Message[],
  { keep, weigh }: { readonly keep: number; readonly weigh: (message: Message) => number },
): Cut {
  let first = messages.length;
  let tokens = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at] as Message;
    tokens += weigh(message);
    const isNewestInput = at === messages.length - 1 && message.role === "user" && !hasResults(message);
    if (tokens > keep && !isNewestInput) break;
    if (!hasResults(message) && originOf(message) !== undefined) first = at;
  }
  return { older: messages.slice(0, first), kept: messages.slice(first) };
}

export function hasResults({ content }: Message): boolean {
  return (content as readonly { readonly type: string }[]).some(({ type }) => type === "tool_result");
}
