/** Plays one reply over a connection: the actions in order, then the regular end, unless an action ended it. */
import { onAbort } from "../../base/abort-tree.js";
import type { Clock } from "../../base/clock.js";
import type { Usage } from "../../protocol/usage.js";
import type { Output } from "./output.js";
import type { Action, ErrorAction, Noise, Part, Reply } from "./script/script.js";
import { fullText } from "./wires/deltas.js";
import {
  type Ask,
  type Encoder,
  estimateTokens,
  type HttpAnswer,
  type Outcome,
  type Service,
  type Wire,
} from "./wires/wire.js";

export interface Exchange {
  readonly wire: Wire;
  readonly ask: Ask;
  readonly service: Service;
  readonly clock: Clock;
  readonly output: Output;
}

export async function perform(reply: Reply, exchange: Exchange): Promise<void> {
  await new Performance(reply, exchange).run();
}

/** Sends a complete answer that does not come from a model. */
export async function sendAnswer(output: Output, { status, headers, body }: HttpAnswer): Promise<void> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const size = { "content-length": String(Buffer.byteLength(text)) };
  output.head(status, { "content-type": "application/json; charset=utf-8", ...headers, ...size });
  await output.push(text);
  await output.end();
}

/** Sends an answer of the service in pieces. */
export async function sendPieces(
  output: Output,
  { status, headers }: HttpAnswer,
  { clock, pieces }: { readonly clock: Clock; readonly pieces: NonNullable<HttpAnswer["pieces"]> },
): Promise<void> {
  output.head(status, headers);
  for (const text of pieces.texts) {
    if (pieces.everyMs > 0) await pause(pieces.everyMs, clock, output.gone);
    if (output.gone.aborted) return;
    await output.push(text);
    await output.flush();
  }
  await output.end();
}

export function pause(ms: number, clock: Clock, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => {
      stop();
      resolve();
    });
    const stop = onAbort(gone, () => {
      cancel();
      resolve();
    });
  });
}

class Performance {
  readonly #reply: Reply;
  readonly #exchange: Exchange;
  readonly #encoder: Encoder;
  readonly #outcome: Outcome;
  /** The answer to a request without a stream; sent at the end. */
  readonly #parts: Part[] = [];
  #noise = "";

  constructor(reply: Reply, exchange: Exchange) {
    this.#reply = reply;
    this.#exchange = exchange;
    const usage = reply.usage === "none" ? undefined : { ...estimate(reply, exchange.ask), ...reply.usage };
    const usesTools = reply.actions.some((action) => action.type === "tool");
    this.#outcome = { usage, stop: reply.stop ?? (usesTools ? "tool" : "end") };
    this.#encoder = exchange.wire.encoder(exchange.ask, { service: exchange.service, usage });
  }

  async run(): Promise<void> {
    const { output } = this.#exchange;
    for (const action of this.#reply.actions) {
      if (output.gone.aborted || (await this.#play(action)) === "over") return;
    }
    if (!this.#exchange.ask.stream) return this.#sendWhole();
    await this.#open();
    await output.push(this.#encoder.close(this.#outcome));
    await output.end();
  }

  async #play(action: Action): Promise<"over" | undefined> {
    const { output } = this.#exchange;
    switch (action.type) {
      case "text":
      case "thinking":
      case "redacted-thinking":
      case "tool":
        return this.#say(action);
      case "ping":
      case "comment":
      case "event":
      case "garbage":
      case "raw":
        await this.#disturb(action);
        return undefined;
      case "delay":
        if (output.opened) await output.flush();
        await this.#wait(action.ms);
        return undefined;
      case "start":
        if (!this.#exchange.ask.stream) return undefined;
        await this.#open();
        await output.flush();
        return undefined;
      default:
        await this.#finish(action);
        return "over";
    }
  }

  async #finish(action: Exclude<Action, Part | Noise | { type: "delay" | "start" }>): Promise<void> {
    const { output, ask } = this.#exchange;
    switch (action.type) {
      case "error":
        return this.#fail(action);
      case "html": {
        const headers = { ...this.#reply.headers, "content-type": "text/html; charset=utf-8" };
        return sendAnswer(output, { status: action.status, headers, body: action.text });
      }
      case "hang":
        if (output.opened) await output.flush();
        return this.#untilGone();
      case "cut":
        if (!ask.stream) return this.#sendHalf("end");
        await this.#open();
        return output.end();
      case "drop":
        if (!ask.stream && this.#parts.length > 0) await this.#sendHalf("leave-open");
        return output.drop(action.how);
    }
  }

  async #say(part: Part): Promise<"over" | undefined> {
    const problem = this.#encoder.problem?.(part);
    if (problem !== undefined) {
      await this.#fail(problem);
      return "over";
    }
    this.#parts.push(part);
    if (!this.#exchange.ask.stream) return undefined;
    const { output } = this.#exchange;
    const everyMs = part.type === "redacted-thinking" ? undefined : part.everyMs;
    const { before, deltas, after } = this.#encoder.part(part);
    await this.#open(part);
    await output.push(before);
    for (const delta of deltas) {
      // A promise for each of many thousand deltas would cost more than the deltas.
      const full = output.push(delta);
      if (full !== undefined) await full;
      if (everyMs !== undefined) {
        await output.flush();
        await this.#wait(everyMs);
      }
      if (output.gone.aborted) return "over";
    }
    await output.push(after);
    return undefined;
  }

  async #disturb(noise: Noise): Promise<void> {
    const text = this.#encoder.noise(noise);
    if (!this.#exchange.ask.stream) {
      this.#noise += text;
      return;
    }
    await this.#open();
    await this.#exchange.output.push(text);
  }

  async #fail(error: ErrorAction): Promise<void> {
    const { output, wire, service, ask } = this.#exchange;
    if (!output.opened) {
      const answer = wire.error(error, { service, ask });
      return sendAnswer(output, { ...answer, headers: { ...answer.headers, ...this.#reply.headers } });
    }
    await output.push(this.#encoder.error(error));
    await output.end();
  }

  async #open(first?: Part): Promise<void> {
    const { output } = this.#exchange;
    if (output.opened) return;
    output.head(200, { "content-type": this.#encoder.streamType, "cache-control": "no-cache", ...this.#headers() });
    await output.push(this.#encoder.open(first));
  }

  #headers(): Record<string, string> {
    return { ...this.#exchange.wire.headers(this.#exchange.service), ...this.#reply.headers };
  }

  /* ---- answers in one piece ---- */

  async #sendWhole(): Promise<void> {
    const { output } = this.#exchange;
    const body = this.#wholeText();
    output.head(200, { ...this.#wholeHeaders(), "content-length": String(Buffer.byteLength(body)) });
    await output.push(body);
    await output.end();
  }

  async #sendHalf(then: "end" | "leave-open"): Promise<void> {
    const { output } = this.#exchange;
    const body = this.#wholeText();
    output.head(200, this.#wholeHeaders());
    await output.push(body.slice(0, Math.floor(body.length / 2)));
    if (then === "end") await output.end();
  }

  #wholeText(): string {
    return JSON.stringify(this.#encoder.whole(this.#parts, this.#outcome)) + this.#noise;
  }

  #wholeHeaders(): Record<string, string> {
    return { "content-type": "application/json; charset=utf-8", ...this.#headers() };
  }

  /* ---- time ---- */

  #wait(ms: number): Promise<void> {
    const { clock, output } = this.#exchange;
    return pause(ms, clock, output.gone);
  }

  #untilGone(): Promise<void> {
    return new Promise((resolve) => onAbort(this.#exchange.output.gone, resolve));
  }
}

function estimate(reply: Reply, ask: Ask): Usage {
  const outputOf = (part: Action) => {
    if (part.type === "tool") return estimateTokens(part.name + part.args);
    return part.type === "text" || part.type === "thinking" ? estimateTokens(fullText(part)) : 0;
  };
  const output = reply.actions.reduce((sum, action) => sum + outputOf(action), 0);
  return { input: ask.inputTokens, output, cache_read: 0, cache_write: 0, reasoning: 0 };
}
