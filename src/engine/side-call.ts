/**
 * A model call beside the conversation, such as a summary. It uses the same chain as other calls, so it has the same retries, the
 * same budgets and the same log. It returns the text, which is not an answer to the user.
 */
import { type Failure, failure } from "../protocol/errors.js";
import type { EventPayloads } from "../protocol/events.js";
import { type Cost, NO_USAGE, type Usage } from "../protocol/usage.js";
import type { Bus } from "./bus.js";
import { ABANDONED, TurnFailure, unlessAbandoned } from "./cancel.js";
import { compose } from "./compose.js";
import type {
  AnsweringModel,
  CallFacts,
  EnginePorts,
  FoundSource,
  Model,
  ModelBlock,
  ModelEvent,
  ModelRequest,
  ModelStream,
  ModelToolCall,
} from "./ports.js";
import { Timing } from "./timing.js";
import type { Turn } from "./turn.js";

/** A provider pauses a long answer; it goes on when it gets it back. */
const MOST_PAUSES = 3;

export interface Source extends Omit<FoundSource, "cites"> {
  /** The passages of the answer that rest on it. */
  readonly cites: readonly string[];
}

export interface SidePlace {
  readonly bus: Bus;
  readonly ports: EnginePorts;
  readonly signal: AbortSignal;
  /** The turn that it is made in, and that pays for it; absent between turns. */
  readonly turn?: Turn;
}

export interface SideCall {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly purpose: NonNullable<EventPayloads["CostIncremented"]["purpose"]>;
  /** For a request that continues the conversation. */
  readonly facts?: CallFacts;
}

/**
 * `called`: the model made a call, which is not run. `sources`: the pages of a search, each once. `unsearched`: why the provider's
 * search did not work.
 */
export type SideAnswer =
  | {
      readonly text: string;
      /** The provider that answered. */
      readonly by: string;
      readonly sources?: readonly Source[];
      readonly unsearched?: string;
      readonly called?: true;
    }
  | { readonly failure: Failure }
  | { readonly cancelled: true };

export async function callBeside(call: SideCall, place: SidePlace): Promise<SideAnswer> {
  const { ports, signal, turn } = place;
  const timing = turn?.timing ?? new Timing(ports.clock);
  const send = compose(ports.requestLinks, async (final, inner) => inner.model.stream(final, inner), {
    timing,
    prefix: "request-link",
  });
  const reading = new SideReading(call, place);
  try {
    const context = { model: call.model, signal, ...(call.facts && { facts: call.facts }) };
    let { request } = call;
    for (let left = MOST_PAUSES; left >= 0; left -= 1) {
      await read(await send(request, context), reading, place);
      const said = reading.pausedAfter();
      if (said === undefined || signal.aborted) break;
      request = { ...request, messages: [...request.messages, { role: "assistant", content: said }] };
    }
  } catch (error) {
    if (!signal.aborted) reading.fail(error);
  }
  reading.pay();
  if (signal.aborted) return { cancelled: true };
  if (reading.failure !== undefined) return { failure: reading.failure };
  const sources = [...reading.sources.values()];
  const { unsearched } = reading;
  const extra = {
    ...(sources.length > 0 && { sources }),
    ...(unsearched !== undefined && { unsearched }),
    ...(reading.called && { called: true as const }),
  };
  return { text: reading.text, by: reading.by, ...extra };
}

async function read(stream: ModelStream, reading: SideReading, { ports, signal }: SidePlace): Promise<void> {
  const iterator = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = await unlessAbandoned(iterator.next(), signal, { clock: ports.clock, ms: 0 });
    if (next !== ABANDONED && next.done === true) return;
    if (next !== ABANDONED) for (const event of next.value) reading.take(event);
    if (next !== ABANDONED && reading.failure === undefined) continue;
    // The signal tells the provider; waiting for its reaction could take forever.
    iterator.return?.()?.then(undefined, () => {});
    return;
  }
}

class SideReading {
  readonly #call: SideCall;
  readonly #place: SidePlace;
  text = "";
  called = false;
  readonly sources = new Map<string, Source>();
  unsearched: string | undefined;
  failure: Failure | undefined;
  /** The blocks of the model since its last pause. */
  #said: Exclude<ModelBlock, ModelToolCall>[] = [];
  #isPaused = false;
  #by: AnsweringModel;
  #usage: Usage = NO_USAGE;
  #cost: Cost | undefined;
  #since: number;

  constructor(call: SideCall, place: SidePlace) {
    this.#call = call;
    this.#place = place;
    this.#by = call.model;
    this.#since = place.ports.clock.now();
  }

  take(event: ModelEvent): void {
    switch (event.type) {
      case "text":
        this.text += event.text;
        return;
      case "block":
        if (event.block.type === "tool_call") this.called = true;
        else this.#said.push(event.block);
        return;
      case "source":
        this.#found(event);
        return;
      case "unsearched":
        this.unsearched = event.reason;
        return;
      case "stop":
        this.#isPaused = event.reason === "pause";
        return;
      case "usage":
        this.#usage = event.usage;
        this.#cost = event.cost;
        return;
      case "answering":
        this.#by = event.by;
        return;
      case "failure":
        this.failure = event.failure;
        return;
      case "retract":
        this.text = "";
        this.#said = [];
        this.sources.clear();
        return;
      case "again":
        this.pay({ abandoned: true });
        this.#since += event.waitMs;
        this.#notify(event.failure.message);
        return;
      case "failover":
        this.pay({ abandoned: true });
        return;
      case "notice":
        this.#notify(event.message);
    }
  }

  get by(): string {
    return this.#by.provider;
  }

  /** Tells what the model said before a pause, after which it wants to go on; undefined if it ended. */
  pausedAfter(): readonly Exclude<ModelBlock, ModelToolCall>[] | undefined {
    if (!this.#isPaused || this.failure !== undefined || this.#said.length === 0) return undefined;
    const said = this.#said;
    this.#said = [];
    this.#isPaused = false;
    this.pay();
    return said;
  }

  #found({ title, url, excerpt, cites }: FoundSource): void {
    const before = this.sources.get(url);
    const known = excerpt ?? before?.excerpt;
    this.sources.set(url, {
      title: title || (before?.title ?? ""),
      url,
      ...(known !== undefined && { excerpt: known }),
      cites: [...(before?.cites ?? []), ...(cites === undefined ? [] : [cites])],
    });
  }

  fail(error: unknown): void {
    const detail = error instanceof Error ? error.message : String(error);
    this.failure ??= error instanceof TurnFailure ? error.failure : failure("Internal", { detail });
  }

  /** The usage of the attempt, if it reported any. */
  pay(traits: { readonly abandoned?: true } = {}): void {
    const { bus, turn, ports } = this.#place;
    const { provider, model, route } = this.#by;
    const [usage, cost, from] = [this.#usage, this.#cost, this.#since];
    this.#usage = NO_USAGE;
    this.#cost = undefined;
    this.#since = ports.clock.now();
    if (usage === NO_USAGE) return;
    turn?.pay(usage, cost, { provider, model });
    bus.publish("CostIncremented", {
      ...(turn !== undefined && { turn: turn.id }),
      provider,
      model,
      ...(route !== undefined && { route }),
      usage,
      elapsed_ms: Math.round(this.#since - from),
      ...(cost !== undefined && { cost }),
      purpose: this.#call.purpose,
      ...traits,
    });
  }

  #notify(message: string): void {
    const { bus, turn } = this.#place;
    bus.publish("Notice", { ...(turn !== undefined && { turn: turn.id }), level: "progress", message });
  }
}
