/**
 * Text that the user pinned: the model keeps it when the conversation is compacted or cleared.
 *
 * 1. A change adds a new message with the whole text. The newest one counts, so earlier messages never change.
 * 2. A summary repeats it word for word, and a resumed session finds it in its conversation.
 */
import { type Message, plainText } from "../../protocol/content.js";

const BEGIN = "[pinned context]";
const END = "[end of pinned context]";
const NONE = "(The user removed the pinned context.)";

export class PinnedContext {
  #text: string;
  /** The model has not seen the current text. */
  #isNew: boolean;

  /** `before`: the text of the conversation that the user cleared. */
  constructor(before = "") {
    this.#text = before;
    this.#isNew = before !== "";
  }

  /** From the messages of a resumed conversation. */
  static from(messages: readonly Message[]): PinnedContext {
    const pinned = new PinnedContext();
    for (const message of messages) {
      if (message.role !== "user" || message.content.some(({ type }) => type === "tool_result")) continue;
      pinned.#text = lastBlock(plainText(message.content)) ?? pinned.#text;
    }
    return pinned;
  }

  get text(): string {
    return this.#text;
  }

  add(text: string): void {
    const clean = text.replaceAll(BEGIN, "").replaceAll(END, "").trim();
    if (clean === "") return;
    this.#text = this.#text === "" ? clean : `${this.#text}\n${clean}`;
    this.#isNew = true;
  }

  clear(): void {
    this.#isNew ||= this.#text !== "";
    this.#text = "";
  }

  /** For the model, if it has not seen it; a summary contains it anyway. */
  takeNews(): string | undefined {
    const isNew = this.#isNew;
    this.#isNew = false;
    return isNew ? blockOf(this.#text === "" ? NONE : this.#text) : undefined;
  }

  /** Tells what every summary repeats. */
  get blocks(): readonly string[] {
    return this.#text === "" ? [] : [blockOf(this.#text)];
  }
}

function blockOf(text: string): string {
  return `${BEGIN}\n${text}\n${END}`;
}

function lastBlock(words: string): string | undefined {
  const end = words.lastIndexOf(`\n${END}`);
  const begin = end === -1 ? -1 : words.lastIndexOf(`${BEGIN}\n`, end);
  if (begin === -1) return undefined;
  const text = words.slice(begin + BEGIN.length + 1, end);
  return text === NONE ? "" : text;
}
