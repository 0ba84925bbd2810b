import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { eventsOf } from "./sample-events.testkit.js";
import { axisOf, timelineOf } from "./timeline.js";

const USAGE = { input: 10, output: 5, cache_read: 0, cache_write: 0, reasoning: 0 };

/** A turn that asks, runs two calls side by side, one of them after a question, and answers. */
function turn(): readonly Envelope[] {
  return eventsOf([
    [0, "TurnStarted", { turn: "turn_1", input: [{ type: "text", text: "go" }] }],
    [400, "TextDelta", { text: "Let me look." }],
    [900, "AnswerEnded", { turn: "turn_1", provider: "p", model: "m", blocks: [] }],
    [900, "CostIncremented", { provider: "p", model: "m", usage: USAGE, elapsed_ms: 900, cost: { usd: 0.5 } }],
    [1000, "ToolCallStarted", { call: "call_a", tool: "bash", args: {} }],
    [1000, "ToolCallStarted", { call: "call_b", tool: "edit", args: {} }],
    [1000, "PermissionRequested", { call: "call_b", tool: "edit", args: {}, summary: "Edit a.txt?" }],
    [1500, "ToolResult", { call: "call_a", tool: "bash", status: "error", content: [] }],
    [3000, "PermissionResolved", { call: "call_b", tool: "edit", decision: "allow_once", decided_by: "person" }],
    [3100, "ToolResult", { call: "call_b", tool: "edit", status: "ok", content: [] }],
    [3600, "TextDelta", { text: "Done." }],
    [4000, "AnswerEnded", { turn: "turn_1", provider: "p", model: "m", blocks: [] }],
    [4000, "CostIncremented", { provider: "p", model: "m", usage: USAGE, elapsed_ms: 900, cost: { usd: 0.25 } }],
    [4100, "TurnTiming", { turn: "turn_1", parts: { "hook x": 3 } }],
    [4100, "TurnEnded", { turn: "turn_1", outcome: "answered", text: "Done.", iterations: 2, usage: USAGE }],
  ]);
}

describe("the timeline of a session", () => {
  verifies(["U4"], "tells what the model, the tools and the person did, and for how long", () => {
    const { spans, turns } = timelineOf(turn());
    const start = turns[0]?.from ?? 0;
    expect(
      spans.map(({ lane, from, to, row, failed }) => [lane, from - start, to - start, row, failed ?? false]),
    ).toEqual([
      ["waiting for the model", 0, 400, 0, false],
      ["answer", 400, 900, 0, false],
      ["tools", 1000, 1500, 0, true],
      ["tools", 3000, 3100, 1, false],
      ["waiting for you", 1000, 3000, 0, false],
      ["waiting for the model", 3100, 3600, 0, false],
      ["answer", 3600, 4000, 0, false],
    ]);
    expect(turns).toMatchObject([{ number: 1, title: "go", outcome: "answered", usd: 0.75, parts: { "hook x": 3 } }]);
    expect(spans.map(({ usd }) => usd).filter((usd) => usd !== undefined)).toEqual([0.5, 0.25]);
  });

  verifies(["U4"], "shows a turn that is not over up to its last event", () => {
    const { spans, turns } = timelineOf(turn().slice(0, 7));
    expect(turns[0]?.end).toBeUndefined();
    expect(spans.filter(({ end }) => end === undefined).map(({ lane }) => lane)).toEqual([
      ...["tools", "tools", "waiting for you"],
    ]);
  });

  verifies(["U4"], "shrinks the time between two turns", () => {
    const first = turn();
    const hour = 3_600_000;
    const later = turn().map((event) => ({ ...event, ts: new Date(Date.parse(event.ts) + hour).toISOString() }));
    const line = timelineOf([...first, ...later]);
    const axis = axisOf(line);
    const [a, b] = line.turns;
    expect(axis.at((a?.from ?? 0) + 1000) - axis.at(a?.from ?? 0)).toBe(1000);
    expect(axis.at(b?.from ?? 0) - axis.at(a?.to ?? 0)).toBeLessThan(1000);
    expect(axis.at(b?.to ?? 0)).toBeCloseTo(axis.length);
  });
});
