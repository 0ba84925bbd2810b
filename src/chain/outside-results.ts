/**
 * What tools brought from outside, delimited in what is sent (feature P12). The conversation and the log have it as it is.
 *
 * 1. The same message gives the same bytes in every request of the session, in whatever process: the mark depends on nothing else.
 * 2. Each message is looked at once, however many requests it is part of.
 * 3. Until there is such a result, nothing is loaded.
 */
import type { Message, ResultContent, ToolResultBlock, UserBlock } from "../protocol/content.js";

export type WrapText = (text: string, tool: string) => string;

export class OutsideResults {
  /** Whether anything is delimited in what is sent. */
  readonly wraps: boolean;
  readonly #mark: () => Promise<string>;
  readonly #sent = new WeakMap<Message, Message>();
  #wrap: WrapText | undefined;
  #loading: Promise<WrapText> | undefined;

  /** `mark` is asked for once. */
  constructor(mark: () => Promise<string>, { results }: { readonly results: "wrap" | "plain" }) {
    this.#mark = mark;
    this.wraps = results === "wrap";
  }

  /** Loads what `asSent` will need. */
  wrapper(): Promise<WrapText> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** The conversation as the model gets it: message for message. */
  asSent(conversation: readonly Message[]): readonly Message[] | Promise<readonly Message[]> {
    if (!this.wraps) return [...conversation];
    const wrap = this.#wrap;
    if (wrap !== undefined) return this.#all(conversation, wrap);
    if (!conversation.some(bringsText)) return [...conversation];
    return this.sender().then((send) => send(conversation));
  }

  /** The same, when everything is loaded. */
  async sender(): Promise<(messages: readonly Message[]) => readonly Message[]> {
    if (!this.wraps) return (messages) => messages;
    const wrap = await this.wrapper();
    return (messages) => this.#all(messages, wrap);
  }

  #all(conversation: readonly Message[], wrap: WrapText): readonly Message[] {
    return conversation.map((message) => {
      if (message.role === "assistant") return message;
      let sent = this.#sent.get(message);
      if (sent === undefined) {
        sent = bringsText(message)
          ? { ...message, content: message.content.map((block) => wrapBlock(block, wrap)) }
          : message;
        this.#sent.set(message, sent);
      }
      return sent;
    });
  }

  async #load(): Promise<WrapText> {
    const [{ wrapResult }, mark] = await Promise.all([import("../security/untrusted/untrusted.js"), this.#mark()]);
    this.#wrap = (text, tool) => wrapResult(text, { tool, mark });
    return this.#wrap;
  }
}

function wrapBlock(block: UserBlock, wrap: WrapText): UserBlock {
  return block.type === "tool_result" ? wrapOutside(block, wrap) : block;
}

function wrapOutside(result: ToolResultBlock, wrap: WrapText): ToolResultBlock {
  const content = result.content.map((part) =>
    isOutside(part) ? { ...part, text: wrap(part.text, result.tool) } : part,
  );
  return { ...result, content };
}

function bringsText({ role, content }: Message): boolean {
  return role === "user" && content.some((block) => block.type === "tool_result" && block.content.some(isOutside));
}

function isOutside(part: ResultContent): part is Extract<ResultContent, { type: "text" }> {
  return part.type === "text" && part.own !== true && part.text.trim() !== "";
}
