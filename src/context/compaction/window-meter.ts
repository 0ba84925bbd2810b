/**
 * How much of the window a conversation takes, without weighing it anew for each request (feature M16): what the provider counted for
 * the last answer, and what was added since.
 */
import type { Message } from "../../protocol/content.js";

/** About what a large image takes everywhere. */
const IMAGE = 1600;

export class WindowMeter {
  #counted: { readonly tokens: number; readonly messages: number } | undefined;

  /** So many tokens for a request with all that stands around it, of a conversation of so many messages. */
  note(tokens: number, messages: number): void {
    this.#counted = { tokens, messages };
  }

  /** Hardly ever less than the conversation takes: a character is a token at most. Looks at nothing but the newest messages. */
  bound(conversation: readonly Message[]): number {
    const { tokens, messages } = this.#since(conversation);
    let bound = tokens;
    for (let at = messages; at < conversation.length; at++) bound += lengthOf(conversation[at] as Message);
    return bound;
  }

  /** By the provider's count; undefined when there is none. */
  estimate(conversation: readonly Message[], weigh: (messages: readonly Message[]) => number): number | undefined {
    const { tokens, messages } = this.#since(conversation);
    return messages === 0 ? undefined : tokens + weigh(conversation.slice(messages));
  }

  #since(conversation: readonly Message[]): { readonly tokens: number; readonly messages: number } {
    const counted = this.#counted;
    // Somebody has taken messages away: the count is of another conversation.
    return counted === undefined || counted.messages > conversation.length ? { tokens: 0, messages: 0 } : counted;
  }
}

function lengthOf({ content }: Message): number {
  let length = 0;
  for (const block of content) {
    if (block.type === "text" || block.type === "thinking") length += block.text.length;
    else if (block.type === "image") length += IMAGE;
    else if (block.type === "tool_use") length += block.malformed?.length ?? JSON.stringify(block.args).length;
    else if (block.type === "tool_result") {
      for (const part of block.content) length += part.type === "text" ? part.text.length : IMAGE;
    }
  }
  return length;
}
