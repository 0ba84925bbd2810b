/**
 * One session of an engine as the harness that the simple surface serves: complete blocks instead of deltas.
 *
 * 1. It sends the text of an answer when the answer has ended or its first call has begun, so it never sends a retracted answer.
 * 2. Every prompt ends with one `idle` status.
 */
import type { EngineClient } from "../../protocol/client.js";
import { plainText, resultText, text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import type { HarnessEvent, HarnessState } from "./simple-events.js";
import type { ServedHarness } from "./simple-http.js";

const WAITING = "Waiting for the model.";

type Block = { readonly type: "text" | "reasoning"; content: string };

export class SimpleHarness implements ServedHarness {
  readonly #client: EngineClient;
  readonly #session: SessionId;
  readonly #listeners = new Set<(event: HarnessEvent) => void>();
  #blocks: Block[] = [];
  #busy = false;
  #accepted: Promise<string | undefined> = Promise.resolve(undefined);

  /** The client is attached to the session. */
  constructor(client: EngineClient, session: SessionId) {
    this.#client = client;
    this.#session = session;
    client.subscribe((event) => {
      if (event.session === session) this.#take(event);
    });
  }

  get busy(): boolean {
    return this.#busy;
  }

  async prompt(content: string): Promise<void> {
    this.#busy = true;
    this.#accepted = this.#send(content);
    await this.#accepted;
  }

  accepted(): Promise<string | undefined> {
    return this.#accepted;
  }

  async #send(content: string): Promise<string | undefined> {
    const reply = await this.#client.send("SendInput", { content: [text(content)] }, this.#session);
    if (reply.ok) return undefined;
    const { message } = reply.failure;
    // A turn that could not be saved has ended already.
    if (this.#busy) this.#status("idle", message);
    this.#busy = false;
    return message;
  }

  cancel(): void {
    void this.#client.send("CancelTurn", {}, this.#session);
  }

  subscribe(listener: (event: HarnessEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #take({ kind, payload }: Envelope): void {
    switch (kind) {
      case "TurnStarted":
        this.#busy = true;
        this.#emit({ type: "user", content: plainText(payload.input) });
        this.#status("thinking", WAITING);
        break;
      case "InputSteered":
        this.#emit({ type: "user", content: plainText(payload.input) });
        break;
      case "TextDelta":
        this.#grow("text", payload.text);
        break;
      case "ThinkingDelta":
        this.#grow("reasoning", payload.text);
        break;
      case "AnswerRetracted":
        this.#blocks = [];
        break;
      case "AnswerEnded":
        this.#flush();
        break;
      case "ToolCallStarted":
        this.#flush();
        this.#emit({ type: "tool_call", id: payload.call, name: payload.tool, input: payload.args });
        this.#status("running tool", `Running ${payload.tool}.`);
        break;
      case "ToolResult":
        this.#result(payload);
        break;
      case "RateLimited":
      case "Retrying":
        this.#status("thinking", payload.message);
        break;
      case "TurnEnded":
        this.#flush();
        this.#busy = false;
        this.#status("idle", endMessage(payload));
        break;
    }
  }

  #result({ call, content, status }: EventPayloads["ToolResult"]): void {
    this.#emit({ type: "tool_result", id: call, result: resultText(content), isError: status !== "ok" });
    this.#status("thinking", WAITING);
  }

  #grow(type: Block["type"], added: string): void {
    const last = this.#blocks.at(-1);
    if (last?.type === type) last.content += added;
    else this.#blocks.push({ type, content: added });
  }

  #flush(): void {
    const blocks = this.#blocks;
    this.#blocks = [];
    for (const { type, content } of blocks) if (content !== "") this.#emit({ type, content });
  }

  #status(state: HarnessState, message: string): void {
    this.#emit({ type: "status", state, message });
  }

  #emit(event: HarnessEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function endMessage({ outcome, failure }: EventPayloads["TurnEnded"]): string {
  if (failure !== undefined) return failure.message;
  if (outcome === "answered") return "Ready.";
  return outcome === "cancelled" ? "Cancelled." : `Stopped: ${outcome}.`;
}
