/** Reads a log step by step, without keeping it in memory. */
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
/** The number of events between two pauses for keys and timers. */
const BREATH = 500;

/**
 * The steps of a log in chunks that grow with the number of known steps, so that appending takes linear time. For a damaged log, the
 * readable steps come before the error.
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

/** Reads the content of a step from its events. */
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

/** All steps with their content, in order. A result names its call only if the call is not directly before it. */
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

  /** The call of this result, if others began or ended since. */
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

/** The same events, with pauses for keys and timers, until they are no longer needed. */
export function considerate(source: EventSource, isWanted: () => boolean): EventSource {
  return async function* (range) {
    let seen = 0;
    for await (const event of source(range)) {
      if (!isWanted()) return;
      yield event;
      // A store may return thousands of events without waiting.
      if (++seen % BREATH === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
}
