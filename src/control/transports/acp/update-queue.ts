/**
 * Sends the updates of a session in order. While the editor is slow to read, pieces of the same text are joined, so that what waits is
 * never much more than the text itself.
 */
import type { SessionUpdate } from "@agentclientprotocol/sdk";

type Send = (update: SessionUpdate) => Promise<void>;

export class UpdateQueue {
  readonly #send: Send;
  readonly #waiting: SessionUpdate[] = [];
  #sending: Promise<void> | undefined;

  constructor(send: Send) {
    this.#send = send;
  }

  push(updates: readonly SessionUpdate[]): void {
    for (const update of updates) this.#add(update);
    if (this.#waiting.length > 0) this.#sending ??= this.#run();
  }

  /** Resolves when all updates so far are written. */
  async sent(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  #add(update: SessionUpdate): void {
    const last = this.#waiting.at(-1);
    const merged = last && joined(last, update);
    if (merged === undefined) this.#waiting.push(update);
    else this.#waiting[this.#waiting.length - 1] = merged;
  }

  async #run(): Promise<void> {
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await this.#send(next);
    } catch {
      // The editor is gone; the connection ends everything.
      this.#waiting.length = 0;
    } finally {
      this.#sending = undefined;
    }
  }
}

/** Two updates as one; undefined if both are needed. */
export function joined(first: SessionUpdate, second: SessionUpdate): SessionUpdate | undefined {
  if (first.sessionUpdate !== second.sessionUpdate) return undefined;
  if (first.sessionUpdate === "tool_call_update" && second.sessionUpdate === "tool_call_update") {
    return first.toolCallId === second.toolCallId ? { ...first, ...second } : undefined;
  }
  const isText = first.sessionUpdate === "agent_message_chunk" || first.sessionUpdate === "agent_thought_chunk";
  if (!isText || !("content" in second)) return undefined;
  const [before, after] = [first.content, second.content];
  if (Array.isArray(after) || after === null || after === undefined) return undefined;
  if (before.type !== "text" || after.type !== "text") return undefined;
  return { ...first, content: { type: "text", text: before.text + after.text } };
}
