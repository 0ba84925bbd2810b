/** One session of an engine: prompts, events, questions. */

import type { CommandReply, QueryReply } from "../../protocol/client.js";
import type { CommandKind, CommandPayloads } from "../../protocol/commands.js";
import type { InputContent } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import type { JsonValue } from "../../protocol/json.js";
import type { Queries, QueryKind } from "../../protocol/queries.js";
import { slashRequest } from "../../protocol/slash-command.js";
import { RefusedError } from "./connection-error.js";
import { EventQueue } from "./event-queue.js";
import { type PermissionCallback, Questions } from "./questions.js";
import { type PromptOptions, promptTurn, type TurnResult } from "./turn.js";
import type { WireClient } from "./wire-client.js";

export class Session {
  readonly id: SessionId;
  readonly #client: WireClient;
  readonly #queues = new Set<EventQueue>();
  readonly #stops = new Set<() => void>();

  constructor(client: WireClient, id: SessionId) {
    this.#client = client;
    this.id = id;
  }

  /** Sends a prompt and waits for the end of its turn. Throws a RefusedError when the engine does not take it. */
  prompt(prompt: string | readonly InputContent[], options: PromptOptions = {}): Promise<TurnResult> {
    return promptTurn({ client: this.#client, session: this.id }, prompt, options);
  }

  /** The events from this call on, to the end of the session. Leaving the loop ends it. It throws when the engine is out of reach. */
  events({ signal }: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<Envelope> {
    const end = () => queue.end();
    const queue = new EventQueue(() => {
      stop();
      stopDetached();
      this.#queues.delete(queue);
      signal?.removeEventListener("abort", end);
    });
    const stop = this.subscribe((event) => queue.push(event));
    const stopDetached = this.#client.onDetached((session, reason) => {
      if (session === this.id) queue.end(reason && new RefusedError(reason));
    });
    this.#queues.add(queue);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    return queue;
  }

  subscribe(listener: (event: Envelope) => void): () => void {
    return this.#client.subscribe((event) => {
      if (event.session === this.id) listener(event);
    });
  }

  /** Questions go to the callback, also those that are open now. Returns the end of that. */
  onPermission(callback: PermissionCallback): () => void {
    const questions = new Questions(this.#client, this.id, callback);
    const unsubscribe = this.subscribe((event) => questions.onEvent(event));
    const stop = () => {
      unsubscribe();
      questions.stop();
      this.#stops.delete(stop);
    };
    this.#stops.add(stop);
    return stop;
  }

  /** A command of the protocol. Throws a RefusedError when it is refused. */
  async send<K extends CommandKind>(kind: K, payload: CommandPayloads[K]): Promise<JsonValue | undefined> {
    return replyValue(await this.#client.send(kind, payload, this.id));
  }

  /** A query of the protocol. Throws a RefusedError when it is refused. */
  async query<K extends QueryKind>(kind: K, request: Queries[K]["request"]): Promise<Queries[K]["answer"]> {
    return answerOf(await this.#client.query(kind, request, this.id));
  }

  /** A slash command: `command("cost")`. */
  command(verb: string, args = ""): Promise<JsonValue | undefined> {
    return this.send("CustomCommand", slashRequest(verb, args));
  }

  async cancel(): Promise<void> {
    await this.send("CancelTurn", {});
  }

  /** Ends the session for all clients. Its log stays, and it can be resumed. */
  async end(): Promise<void> {
    await this.send("EndSession", {});
  }

  /** Leaves the session. It and its turn continue. */
  async close(): Promise<void> {
    for (const stop of [...this.#stops]) stop();
    for (const queue of [...this.#queues]) queue.end();
    await this.#client.send("DetachSession", {}, this.id);
  }
}

function replyValue(reply: CommandReply): JsonValue | undefined {
  if (!reply.ok) throw new RefusedError(reply.failure);
  return reply.value;
}

export function answerOf<K extends QueryKind>(reply: QueryReply<K>): Queries[K]["answer"] {
  if (!reply.ok) throw new RefusedError(reply.failure);
  return reply.answer;
}
