/** Reading a log step by step, without keeping it. */
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { CallId } from "../../../protocol/ids.js";
import { CostCounter, type CostMark, type Price } from "./cost-marks.js";
import { type Step, StepGrouper } from "./step.js";
import { type ContentOptions, type StepContent, StepReader } from "./step-content.js";

export interface EventRange {
  /** Events with a greater id. */
  readonly after?: number;
  readonly limit?: number;
}

export type EventSource = (range: EventRange) => AsyncIterable<Envelope>;

export interface IndexChunk {
  readonly steps: readonly Step[];
  readonly costs: readonly CostMark[];
  readonly upTo: number;
}

const FIRST_CHUNK = 32;
/** Events between two chances for keys and timers. */
const BREATH = 500;

/**
 * The steps of a log in chunks that grow with what is known, so that adding them up costs no more than reading. A log that
 * cannot be read to its end is given as far as it goes, before the error.
 */
export async function* indexSteps(events: AsyncIterable<Envelope>, price?: Price): AsyncIterable<IndexChunk> {
  const grouper = new StepGrouper();
  const counter = new CostCounter(price);
  let steps: Step[] = [];
  let costs: CostMark[] = [];
  let known = 0;
  let upTo = 0;
  let fault: { readonly error: unknown } | undefined;
  try {
    for await (const event of events) {
      const step = grouper.take(event);
      const mark = counter.take(event);
      if (step !== undefined) steps.push(step);
      if (mark !== undefined) costs.push(mark);
      upTo = event.id;
      if (steps.length < Math.max(FIRST_CHUNK, known / 4)) continue;
      known += steps.length;
      yield { steps, costs, upTo };
      steps = [];
      costs = [];
    }
  } catch (error) {
    fault = { error };
  }
  const last = grouper.end();
  if (last !== undefined) steps.push(last);
  yield { steps, costs, upTo };
  if (fault !== undefined) throw fault.error;
}

/** What a step says, read from its events. */
export async function readStep(source: EventSource, step: Step, options: ContentOptions): Promise<StepContent> {
  const reader = new StepReader(options);
  if (step.call !== undefined) {
    for await (const event of source({ after: step.call - 1, limit: 1 })) {
      if (event.kind === "ToolCallStarted") reader.about(event.payload);
    }
  }
  for await (const event of source({ after: step.first - 1, limit: step.last - step.first + 1 })) {
    if (event.id > step.last) break;
    reader.add(event);
  }
  return reader.content();
}

export interface ReadStep {
  readonly step: Step;
  readonly content: StepContent;
}

/** All steps with their content, in order. A result says which call it answers only when that was not just before it. */
export async function* readSteps(events: AsyncIterable<Envelope>, options: ContentOptions): AsyncIterable<ReadStep> {
  const grouper = new StepGrouper();
  const calls = new OpenCalls();
  let reader = new StepReader(options);
  for await (const event of events) {
    const step = grouper.take(event);
    if (step !== undefined) {
      yield { step, content: reader.content() };
      reader = new StepReader(options);
    }
    const call = calls.take(event);
    if (call !== undefined) reader.about(call);
    reader.add(event);
  }
  const last = grouper.end();
  if (last !== undefined) yield { step: last, content: reader.content() };
}

type Call = EventPayloads["ToolCallStarted"];

/** Calls that wait for their result. */
class OpenCalls {
  readonly #open = new Map<CallId, Call>();
  #latest: CallId | undefined;

  /** The call that this result answers, when others began or ended since. */
  take(event: Envelope): Call | undefined {
    if (event.kind === "TurnStarted") this.#open.clear();
    if (event.kind === "ToolCallStarted") {
      this.#open.set(event.payload.call, event.payload);
      this.#latest = event.payload.call;
    }
    if (event.kind !== "ToolResult") return undefined;
    const call = this.#open.get(event.payload.call);
    const isNext = this.#latest === event.payload.call;
    this.#open.delete(event.payload.call);
    this.#latest = undefined;
    return isNext ? undefined : call;
  }
}

/** The same events, with a chance for keys and timers in between, until they are no longer wanted. */
export function considerate(source: EventSource, isWanted: () => boolean): EventSource {
  return async function* (range) {
    let seen = 0;
    for await (const event of source(range)) {
      if (!isWanted()) return;
      yield event;
      // A store may give thousands of events without ever waiting.
      if (++seen % BREATH === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
}
