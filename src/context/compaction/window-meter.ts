/**
 * How much of the window a conversation takes, without weighing it anew for each request: what the provider counted for
 * the last answer, and what was added since.
 */
import type { Message } from "../../protocol/content.js";

/** About what a large image takes everywhere. */
const IMAGE = 1600;

/** Tokens of the first so many messages. */
interface Count {
  readonly tokens: number;
  readonly messages: number;
}

const NOTHING: Count = { tokens: 0, messages: 0 };

export class WindowMeter {
  #counted = NOTHING;
  #bound = NOTHING;

  /** So many tokens for a request with all that stands around it, of a conversation of so many messages. */
  record(tokens: number, messages: number): void {
    this.#counted = this.#bound = { tokens, messages };
  }

  get hasCount(): boolean {
    return this.#counted.messages > 0;
  }

  /** Hardly ever less than the conversation takes: a character is a token at most. Looks at each message once. */
  bound(conversation: readonly Message[]): number {
    let { tokens, messages } = of(conversation, this.#bound);
    for (; messages < conversation.length; messages++) tokens += lengthOf(conversation[messages] as Message);
    this.#bound = { tokens, messages };
    return tokens;
  }

  /** By the provider's count; undefined when there is none. */
  estimate(conversation: readonly Message[], weigh: (messages: readonly Message[]) => number): number | undefined {
    const { tokens, messages } = of(conversation, this.#counted);
    return messages === 0 ? undefined : tokens + weigh(conversation.slice(messages));
  }
}

/** After messages are removed, the count belongs to another conversation. */
function of(conversation: readonly Message[], count: Count): Count {
  return count.messages > conversation.length ? NOTHING : count;
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
