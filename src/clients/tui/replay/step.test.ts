import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Envelope } from "../../../protocol/envelope.js";
import { type Step, StepGrouper } from "./step.js";
import { callId, SampleLog, START, sampleLog } from "./test-support/sample-log.js";

function stepsOf(events: readonly Envelope[]): Step[] {
  const grouper = new StepGrouper();
  const steps = events.map((event) => grouper.take(event));
  return [...steps, grouper.end()].filter((step) => step !== undefined);
}

const outline = (log: SampleLog) =>
  stepsOf(log.events).map(({ kind, first, last, turn }) => `${turn} ${kind} ${first}-${last}`);

describe("[S6] StepGrouper", () => {
  it("makes one step of each thing a person sees happen", () => {
    expect(outline(sampleLog())).toEqual([
      "1 input 1-1",
      "1 answer 2-5", // thinking leads to it, deltas are joined
      "1 call 6-7", // the cost of the model call follows
      "1 permission 8-10", // asked, decided; the progress follows
      "1 result 11-11",
      "1 answer 12-14",
      "1 end 15-16", // with the turn's timing
      "2 input 17-17",
      "2 answer 18-19",
      "2 end 20-21",
    ]);
  });

  it("takes the time of what is seen, not of what led to it", () => {
    const [, answer] = stepsOf(sampleLog().events);
    expect(answer?.at).toBe(START + 30);
  });

  it("begins a new answer after thinking and after the end of a model call", () => {
    const log = new SampleLog().started("x").answers("a", "b").thought("hm").answers("c").paid().answers("d").ended();
    expect(outline(log)).toEqual(["1 input 1-1", "1 answer 2-3", "1 answer 4-6", "1 answer 7-7", "1 end 8-9"]);
  });

  it("does not let the progress of a call that runs beside it cut an answer", () => {
    const log = new SampleLog()
      .called("a", "read", {})
      .answers("one ")
      .add("ToolCallProgress", { call: callId("a"), text: "…" })
      .answers("two")
      .returned("a", "read", "");
    expect(outline(log)).toEqual(["0 call 1-1", "0 answer 2-4", "0 result 5-5"]);
  });

  it("keeps questions that overlap apart from each other's decisions", () => {
    const log = new SampleLog();
    const resolved = { tool: "bash", decision: "deny" as const, decided_by: "rule" };
    const asked = { tool: "bash", args: {}, summary: "?" };
    log.add("PermissionRequested", { call: callId("a"), ...asked });
    log.add("PermissionRequested", { call: callId("b"), ...asked });
    log.add("PermissionResolved", { call: callId("a"), ...resolved });
    log.add("PermissionResolved", { call: callId("b"), ...resolved });
    expect(outline(log)).toEqual(["0 permission 1-1", "0 permission 2-2", "0 permission 3-3", "0 permission 4-4"]);
  });

  it("links a result to its call, also when calls run together", () => {
    const log = new SampleLog().started("x").called("a", "read", {}).called("b", "grep", {});
    log.returned("a", "read", "").returned("b", "grep", "").returned("lost", "read", "");
    expect(stepsOf(log.events).map(({ call }) => call)).toEqual([undefined, undefined, undefined, 2, 3, undefined]);
  });

  it("shows what a turn that never ended left behind, in that turn", () => {
    const log = new SampleLog().started("x").thought("hm").started("again").thought("hm").paid();
    expect(outline(log)).toEqual(["1 input 1-1", "1 unfinished 2-2", "2 input 3-3", "2 unfinished 4-5"]);
  });

  it("shows gaps and notices, and has nothing to show for an empty log", () => {
    const log = new SampleLog()
      .add("StreamGap", { from: 1, to: 3, reason: "slow" })
      .add("SessionEnded", { reason: "user" });
    expect(outline(log)).toEqual(["0 gap 1-1", "0 notice 2-2"]);
    expect(stepsOf([])).toEqual([]);
  });

  const anyLog = fc
    .array(fc.constantFrom("start", "say", "think", "call", "return", "pay", "ask", "decide", "progress", "end", "gap"))
    .map((moves) => moves.reduce(grown, new SampleLog()));

  it("puts every event into exactly one step, in order, and no turn into another", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const steps = stepsOf(log.events);
        let next = 1;
        let turn = 0;
        for (const step of steps) {
          expect(step.first).toBe(next);
          expect(step.last).toBeGreaterThanOrEqual(step.first);
          for (const event of log.events.slice(step.first - 1, step.last)) {
            if (event.kind === "TurnStarted") turn++;
            expect(step.turn).toBe(turn);
          }
          next = step.last + 1;
        }
        expect(next).toBe(log.events.length + 1);
      }),
    );
  });

  it("gives the same steps to a reader that begins at one of them", () => {
    fc.assert(
      fc.property(anyLog, fc.nat(), (log, pick) => {
        const steps = stepsOf(log.events);
        const from = steps[pick % Math.max(1, steps.length)]?.first ?? 1;
        const borders = (some: readonly Step[]) => some.map(({ first, last }) => `${first}-${last}`);
        expect(borders(stepsOf(log.events.slice(from - 1)))).toEqual(
          borders(steps.filter((step) => step.first >= from)),
        );
      }),
    );
  });
});

function grown(log: SampleLog, move: string): SampleLog {
  const call = callId("a");
  switch (move) {
    case "start":
      return log.started("x");
    case "say":
      return log.answers("x");
    case "think":
      return log.thought("x");
    case "call":
      return log.called("a", "bash", {});
    case "return":
      return log.returned("a", "bash", "");
    case "pay":
      return log.paid();
    case "ask":
      return log.add("PermissionRequested", { call, tool: "bash", args: {}, summary: "?" });
    case "decide":
      return log.add("PermissionResolved", { call, tool: "bash", decision: "deny", decided_by: "rule" });
    case "progress":
      return log.add("ToolCallProgress", { call, text: "x" });
    case "gap":
      return log.add("StreamGap", { from: 1, to: 2, reason: "" });
    default:
      return log.ended();
  }
}
