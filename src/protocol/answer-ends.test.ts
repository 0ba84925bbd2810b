import { describe, expect, it } from "vitest";
import { AnswerEnds } from "./answer-ends.js";
import type { Envelope } from "./envelope.js";
import type { EventBody } from "./events.js";
import { NO_USAGE } from "./usage.js";

const turn = "turn_1" as const;
const by = { turn, provider: "p", model: "m" };
const cost: EventBody = { kind: "CostIncremented", payload: { ...by, usage: NO_USAGE, elapsed_ms: 1 } };
const ended: EventBody = { kind: "AnswerEnded", payload: { ...by, stop: "end" } };
const delta: EventBody = { kind: "TextDelta", payload: { text: "a" } };
const notice: EventBody = { kind: "Notice", payload: { level: "progress", message: "m" } };

function endsOf(...bodies: readonly EventBody[]): number[] {
  const ends = new AnswerEnds();
  const envelope = { session: "sess_1", originator: "cli_1", ts: "" } as const;
  return bodies.flatMap((body, i) => (ends.take({ id: i, ...envelope, ...body } as Envelope) ? [i] : []));
}

describe("the end of an answer", () => {
  it("is reported by AnswerEnded, and its cost ends nothing", () => {
    expect(endsOf(delta, ended, cost, delta, ended, cost)).toEqual([1, 4]);
  });

  it("is its cost in a log without AnswerEnded", () => {
    expect(endsOf(delta, cost, delta, cost)).toEqual([1, 3]);
  });

  it("comes once where an older log continues with AnswerEnded", () => {
    expect(endsOf(delta, cost, delta, ended, cost, cost)).toEqual([1, 3, 5]);
  });

  it("does not need the cost, and one event lost leaves the other answers as they are", () => {
    expect(endsOf(delta, ended, delta, cost, delta, ended, cost)).toEqual([1, 3, 5]);
  });

  it("is reported once although a subscriber publishes something between the two", () => {
    expect(endsOf(delta, ended, notice, cost)).toEqual([1]);
  });

  it("is no attempt that failed and no work beside the conversation", () => {
    const payload = { ...by, usage: NO_USAGE, elapsed_ms: 1 };
    expect(endsOf({ kind: "CostIncremented", payload: { ...payload, abandoned: true } })).toEqual([]);
    expect(endsOf({ kind: "CostIncremented", payload: { ...payload, purpose: "summary" } })).toEqual([]);
  });
});
