/**
 * The conversation as a file that hooks can read (`transcript_path`), one message a line. It exists while the session is open; the log is the
 * durable record.
 */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Message, ResultContent } from "../../protocol/content.js";
import { resultText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";

export class Transcript {
  readonly path: string;
  readonly #facts: JsonObject;
  #written: readonly Message[] = [];
  #exists = false;

  constructor(path: string, facts: JsonObject) {
    this.path = path;
    this.#facts = facts;
  }

  /** Appends new messages. A compaction starts the file again. */
  update(conversation: readonly Message[]): void {
    const isLonger = this.#written.every((message, index) => conversation[index] === message);
    const fresh = isLonger ? conversation.slice(this.#written.length) : conversation;
    if (this.#exists && isLonger && fresh.length === 0) return;
    const lines = fresh.map((message) => `${JSON.stringify({ ...this.#facts, ...lineOf(message) })}\n`).join("");
    if (this.#exists && isLonger) appendFileSync(this.path, lines);
    else {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      writeFileSync(this.path, lines, { mode: 0o600 });
    }
    this.#exists = true;
    this.#written = [...conversation];
  }

  remove(): void {
    if (this.#exists) rmSync(this.path, { force: true });
    this.#exists = false;
  }
}

function lineOf({ role, content }: Message): JsonObject {
  return { type: role, message: { role, content: content.map(blockOf) } };
}

function blockOf(block: Message["content"][number]): JsonObject {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", thinking: block.text };
    case "tool_use":
      return { type: "tool_use", id: block.call, name: block.tool, input: block.args };
    case "tool_result":
      return resultOf(block);
    default:
      return { type: block.type };
  }
}

function resultOf(block: {
  readonly call: string;
  readonly content: readonly ResultContent[];
  readonly is_error: boolean;
}): JsonObject {
  return {
    type: "tool_result",
    tool_use_id: block.call,
    content: resultText(block.content),
    is_error: block.is_error,
  };
}
