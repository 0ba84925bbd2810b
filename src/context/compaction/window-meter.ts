/**
 * Describes how much of the window a conversation uses, without a new estimate for each request: the provider's count for the last answer, plus
 * an estimate of what was added since.
 */
import type { Message } from "../../protocol/content.js";

/** The approximate tokens of a large image with any provider. */
const IMAGE = 1600;
/** The characters of audio, as base64, that count as a token. */
const AUDIO = 300;

/** The tokens of the first messages of a conversation. */
interface Count {
  readonly tokens: number;
  readonly messages: number;
}

const NOTHING: Count = { tokens: 0, messages: 0 };

export class WindowMeter {
  #counted = NOTHING;
  #bound = NOTHING;

  /** Records the tokens of a whole request for a conversation with this number of messages. */
  record(tokens: number, messages: number): void {
    this.#counted = this.#bound = { tokens, messages };
  }

  get hasCount(): boolean {
    return this.#counted.messages > 0;
  }

  /** An upper bound: a character is nearly always at most one token. Reads each message once. */
  bound(conversation: readonly Message[]): number {
    let { tokens, messages } = of(conversation, this.#bound);
    for (; messages < conversation.length; messages++) tokens += lengthOf(conversation[messages] as Message);
    this.#bound = { tokens, messages };
    return tokens;
  }

  /** Based on the provider's count; undefined without one. */
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
    else if (block.type === "audio") length += Math.ceil(block.data.length / AUDIO);
    else if (block.type === "tool_use") length += block.malformed?.length ?? JSON.stringify(block.args).length;
    else if (block.type === "tool_result") {
      for (const part of block.content) length += part.type === "text" ? part.text.length : IMAGE;
    }
  }
  return length;
}
