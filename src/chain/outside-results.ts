/**
 * Marks results from outside in requests. The conversation and the log have them unmarked.
 *
 * 1. The same message gives the same bytes in every request of the session, in any process: the mark depends on nothing else.
 * 2. Each message is checked once, however many requests contain it.
 * 3. Nothing is loaded before the first such result.
 */
import { type Message, type ResultContent, type ToolResultBlock, text, type UserBlock } from "../protocol/content.js";

/** Marks a text; `source` says where it is from, if no call does. */
export type WrapText = (text: string, source?: string) => string;

/** The messages that were sent last, and both ends of the conversation at that time. */
interface Newest {
  readonly sent: readonly Message[];
  readonly first: Message | undefined;
  readonly last: Message | undefined;
}

export class OutsideResults {
  /** Says whether results are marked in requests. */
  readonly wraps: boolean;
  readonly #mark: () => Promise<string>;
  readonly #sent = new WeakMap<Message, Message>();
  #newest: Newest = { sent: [], first: undefined, last: undefined };
  #wrap: WrapText | undefined;
  #loading: Promise<WrapText> | undefined;

  /** `mark` is called once. */
  constructor(mark: () => Promise<string>, { results }: { readonly results: "wrap" | "plain" }) {
    this.#mark = mark;
    this.wraps = results === "wrap";
  }

  /** Loads the code that `asSent` needs. */
  wrapper(): Promise<WrapText> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** The conversation as the model gets it: message for message. */
  asSent(conversation: readonly Message[]): readonly Message[] | Promise<readonly Message[]> {
    if (this.wraps && this.#wrap === undefined && conversation.some(bringsText))
      return this.wrapper().then((wrap) => this.#grown(conversation, wrap));
    return this.#grown(conversation, this.#wrap ?? asItIs);
  }

  /** The same for some messages, when everything is loaded. */
  async sender(): Promise<(messages: readonly Message[]) => readonly Message[]> {
    const wrap = this.wraps ? await this.wrapper() : asItIs;
    return (messages) => this.#all(messages, wrap);
  }

  /** A conversation only grows, except at its beginning: if both ends of the last request are unchanged, so is the rest. */
  #grown(conversation: readonly Message[], wrap: WrapText): readonly Message[] {
    const { sent, first, last } = this.#newest;
    const isGrown = sent.length > 0 && conversation[0] === first && conversation[sent.length - 1] === last;
    const now = isGrown ? sent.concat(this.#all(conversation.slice(sent.length), wrap)) : this.#all(conversation, wrap);
    this.#newest = { sent: now, first: conversation[0], last: conversation.at(-1) };
    return now;
  }

  #all(messages: readonly Message[], wrap: WrapText): readonly Message[] {
    return messages.map((message) => {
      if (message.role === "assistant") return message;
      let sent = this.#sent.get(message);
      if (sent === undefined) {
        sent = message.content.some(isResult)
          ? {
              ...message,
              content: message.content.map((block) => (isResult(block) ? wrapOutside(block, wrap) : block)),
            }
          : message;
        this.#sent.set(message, sent);
      }
      return sent;
    });
  }

  async #load(): Promise<WrapText> {
    const [{ wrapResult }, mark] = await Promise.all([import("../security/untrusted/untrusted.js"), this.#mark()]);
    const wrap: WrapText = (brought, source) => wrapResult(brought, { mark, source });
    if (this.wraps) this.#wrap = wrap;
    return wrap;
  }
}

const asItIs: WrapText = (brought) => brought;

/** The origin of a text is internal: no wire sends it. */
function wrapOutside(result: ToolResultBlock, wrap: WrapText): ToolResultBlock {
  const content = result.content.map((part) => {
    if (part.type !== "text") return part;
    return text(isOutside(part) ? wrap(part.text) : part.text);
  });
  return { ...result, content };
}

function isResult(block: UserBlock): block is ToolResultBlock {
  return block.type === "tool_result";
}

function bringsText({ role, content }: Message): boolean {
  return role === "user" && content.some((block) => isResult(block) && block.content.some(isOutside));
}

function isOutside(part: ResultContent): boolean {
  return part.type === "text" && part.own !== true && part.text.trim() !== "";
}
