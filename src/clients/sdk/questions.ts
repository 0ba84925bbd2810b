/** Answers the questions of a session with a callback. A question that another client answers first is taken back. */
import type { EngineClient } from "../../protocol/client.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventPayloads, PermissionDecision } from "../../protocol/events.js";
import type { CallId, SessionId } from "../../protocol/ids.js";

export type PermissionQuestion = EventPayloads["PermissionRequested"];

export interface PermissionReply {
  readonly decision: PermissionDecision;
  /** A word to the model. */
  readonly message?: string;
}

/**
 * Undefined leaves the question to others. The signal is aborted when the question is answered elsewhere. A callback that
 * throws denies the call.
 */
export type PermissionCallback = (
  question: PermissionQuestion,
  signal: AbortSignal,
) => PermissionReply | PermissionDecision | undefined | Promise<PermissionReply | PermissionDecision | undefined>;

export class Questions {
  readonly #client: EngineClient;
  readonly #session: SessionId;
  readonly #callback: PermissionCallback;
  /** Those that were shown to the callback. */
  readonly #open = new Map<CallId, AbortController>();
  #stopped = false;

  constructor(client: EngineClient, session: SessionId, callback: PermissionCallback) {
    this.#client = client;
    this.#session = session;
    this.#callback = callback;
    void this.#askOlder();
  }

  onEvent(event: Envelope): void {
    if (event.kind === "PermissionRequested") void this.#ask(event.payload);
    if (event.kind === "PermissionResolved") this.#take(event.payload.call);
    if (event.kind === "SessionEnded" || event.kind === "TurnEnded") this.#takeAll();
  }

  stop(): void {
    this.#stopped = true;
    this.#takeAll();
  }

  /** Those that were open before. */
  async #askOlder(): Promise<void> {
    const reply = await this.#client.query("ListQuestions", {}, this.#session);
    if (reply.ok) for (const question of reply.answer.questions) void this.#ask(question);
  }

  async #ask(question: PermissionQuestion): Promise<void> {
    const { call } = question;
    if (this.#stopped || this.#open.has(call)) return;
    const asked = new AbortController();
    this.#open.set(call, asked);
    const answer = await this.#answerOf(question, asked.signal);
    if (answer === undefined || asked.signal.aborted || this.#stopped) return;
    const reply = typeof answer === "string" ? { decision: answer } : answer;
    await this.#client.send("AnswerPermission", { call, ...reply }, this.#session);
  }

  async #answerOf(question: PermissionQuestion, signal: AbortSignal) {
    try {
      return await this.#callback(question, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      return { decision: "deny", message: error instanceof Error ? error.message : String(error) } as const;
    }
  }

  #take(call: CallId): void {
    this.#open.get(call)?.abort();
    this.#open.delete(call);
  }

  #takeAll(): void {
    for (const call of [...this.#open.keys()]) this.#take(call);
  }
}
