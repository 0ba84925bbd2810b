/** One prompt to the end of its turn. */
import { type InputContent, text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { SessionId, TurnId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import { RefusedError } from "./connection-error.js";
import type { WireClient } from "./wire-client.js";

/** The end of a turn: the final text, the outcome, usage and cost. */
export type TurnResult = EventPayloads["TurnEnded"];

export interface PromptOptions {
  /** Cancels the turn; the promise is rejected with the reason of the signal when the turn has ended. */
  readonly signal?: AbortSignal;
  /** While another turn runs, the prompt waits for its end. Otherwise it is refused with TurnInProgress. */
  readonly queue?: boolean;
  /** The text of the answer as it arrives. */
  readonly onText?: (text: string) => void;
}

const SESSION_ENDED = failure("InvalidInput", { detail: "The session ended before the turn did." });

/** Throws a RefusedError when the engine does not take the prompt. */
export async function promptTurn(
  place: { readonly client: WireClient; readonly session: SessionId },
  prompt: string | readonly InputContent[],
  options: PromptOptions,
): Promise<TurnResult> {
  const { client, session } = place;
  const { signal, queue } = options;
  signal?.throwIfAborted();
  const content = typeof prompt === "string" ? [text(prompt)] : prompt;
  const watch = new TurnWatch(place, { ...options, content });
  const cancel = () => void client.send("CancelTurn", {}, session);
  try {
    const sent = client.send("SendInput", { content, ...(queue && { queue }) }, session);
    // The reply comes when the prompt is saved. A short turn may have ended by then, and its program may have left.
    const reply = await Promise.race([sent, watch.ended.then(() => undefined)]);
    if (reply?.ok === false) throw new RefusedError(reply.failure);
    if (isJsonObject(reply?.value) && reply.value.state !== "started") watch.isWaiting();
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted) cancel();
    const ended = await watch.ended;
    signal?.throwIfAborted();
    return ended;
  } finally {
    signal?.removeEventListener("abort", cancel);
    watch.stop();
  }
}

/** Finds the turn of an input among the events, and its end. The turn may begin before the command is answered. */
class TurnWatch {
  readonly ended: Promise<TurnResult>;
  readonly stop: () => void;
  readonly #place: { readonly client: WireClient; readonly session: SessionId };
  readonly #options: PromptOptions & { readonly content: readonly InputContent[] };
  #turn: TurnId | undefined;
  #waits = false;
  #resolve: (result: TurnResult) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(
    place: { readonly client: WireClient; readonly session: SessionId },
    options: PromptOptions & { readonly content: readonly InputContent[] },
  ) {
    this.#place = place;
    this.#options = options;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A refused prompt leaves it without a reader.
    this.ended.catch(() => {});
    const unsubscribe = place.client.subscribe((event) => {
      if (event.session === place.session) this.#onEvent(event);
    });
    const stopDetached = place.client.onDetached((session, reason) => {
      if (session === place.session) this.#reject(new RefusedError(reason ?? SESSION_ENDED));
    });
    this.stop = () => {
      unsubscribe();
      stopDetached();
    };
  }

  isWaiting(): void {
    this.#waits = true;
  }

  #onEvent(event: Envelope): void {
    switch (event.kind) {
      case "TurnStarted":
        if (this.#turn === undefined && this.#isOurs(event)) this.#turn = event.payload.turn;
        return;
      case "TextDelta":
        if (this.#turn !== undefined) this.#options.onText?.(event.payload.text);
        return;
      case "TurnEnded":
        if (event.payload.turn === this.#turn) this.#resolve(event.payload);
        return;
      case "InputDropped":
        if (this.#turn === undefined && event.payload.inputs.some((input) => this.#holds(input))) {
          this.#fail("The prompt was dropped before its turn began.");
        }
        return;
    }
  }

  /** A waiting prompt may begin a turn together with inputs of others. */
  #isOurs({ originator, payload }: Extract<Envelope, { readonly kind: "TurnStarted" }>): boolean {
    if (this.#waits || this.#options.queue) return this.#holds(payload.input);
    return originator === this.#place.client.id;
  }

  #holds(input: readonly InputContent[]): boolean {
    const parts = new Set(input.map((part) => JSON.stringify(part)));
    return this.#options.content.every((part) => parts.has(JSON.stringify(part)));
  }

  #fail(detail: string): void {
    this.#reject(new RefusedError(failure("InvalidInput", { detail })));
  }
}
