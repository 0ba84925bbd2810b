import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventBody } from "../../../protocol/events.js";
import { emptyConversation, type Item, isBusy, reduce } from "./conversation.js";

const USAGE = { input: 1, output: 2, cache_read: 0, cache_write: 0, reasoning: 0 };

/** The conversation after these events, a second apart. */
function conversation(...bodies: readonly object[]) {
  const events = bodies.map((body, index) => {
    const ts = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString();
    return { id: index + 1, session: "sess_1", originator: "cli_1", ts, ...body } as unknown as Envelope;
  });
  return events.reduce(reduce, emptyConversation("sess_1"));
}

const started = (text: string): EventBody =>
  ({ kind: "TurnStarted", payload: { turn: "turn_1", input: [{ type: "text", text }] } }) as EventBody;
const says = (text: string) => ({ kind: "TextDelta", payload: { text } });
const calls = (call: string) => ({ kind: "ToolCallStarted", payload: { call, tool: "bash", args: { command: "ls" } } });
const ended = (more: object = {}) => ({
  kind: "TurnEnded",
  payload: { turn: "turn_1", outcome: "answered", text: "x", iterations: 1, usage: USAGE, ...more },
});
const kinds = (items: readonly Item[] = []) => items.map(({ kind }) => kind);

describe("the conversation of the web client", () => {
  verifies(["U4"], "joins deltas, and keeps text and calls in their order", () => {
    const { turns } = conversation(started("go"), says("a"), says("b"), calls("call_1"), says("c"));
    expect(turns).toHaveLength(1);
    expect(turns[0]?.input).toBe("go");
    expect(turns[0]?.items).toMatchObject([{ text: "ab" }, { kind: "call" }, { text: "c" }]);
  });

  verifies(["U4"], "has the output of a call while it runs, and its result", () => {
    const progress = { kind: "ToolCallProgress", payload: { call: "call_1", text: "one\n" } };
    const running = conversation(started("go"), calls("call_1"), progress);
    expect(running.turns[0]?.items[0]).toMatchObject({ block: { progress: "one\n" } });
    const result = { kind: "ToolResult", payload: { call: "call_1", tool: "bash", status: "ok", content: [] } };
    const done = conversation(started("go"), calls("call_1"), progress, result, ended());
    expect(done.turns[0]?.items[0]).toMatchObject({ block: { result: { status: "ok" } } });
    expect(isBusy(running)).toBe(true);
    expect(isBusy(done)).toBe(false);
  });

  verifies(["U4"], "withdraws the text of an answer that starts again, and no call", () => {
    const retracted = { kind: "AnswerRetracted", payload: { turn: "turn_1", reason: "Overloaded" } };
    const { turns } = conversation(started("go"), calls("call_1"), says("half"), retracted, says("whole"));
    expect(turns[0]?.items).toMatchObject([{ kind: "call" }, { kind: "text", text: "whole" }]);
  });

  verifies(["U4"], "closes the questions and the open calls of a turn that ends", () => {
    const asks = {
      kind: "PermissionRequested",
      payload: { call: "call_1", tool: "bash", args: {}, summary: "bash ls" },
    };
    expect(conversation(started("go"), calls("call_1"), asks).questions).toHaveLength(1);
    const { questions, turns } = conversation(started("go"), calls("call_1"), asks, ended({ outcome: "cancelled" }));
    expect(questions).toEqual([]);
    expect(turns[0]?.items[0]).toMatchObject({ block: { result: { status: "cancelled" } } });
  });

  verifies(["U4"], "counts what waits, and shows it where it steered", () => {
    const input = [{ type: "text", text: "also this" }];
    const queued = { kind: "InputQueued", payload: { input, delivery: "steer", from: "cli_1" } };
    expect(conversation(started("go"), queued).queue).toMatchObject([{ text: "also this", delivery: "steer" }]);
    const steered = { kind: "InputSteered", payload: { turn: "turn_1", input, from: "cli_1" } };
    const { queue, turns } = conversation(started("go"), queued, steered);
    expect(queue).toEqual([]);
    expect(kinds(turns[0]?.items)).toEqual(["input"]);
  });

  verifies(["U4"], "begins in the middle of a turn, and leaves earlier turns the same objects", () => {
    const before = conversation(says("the end of it"), ended(), started("next"));
    expect(before.turns.map(({ input }) => input)).toEqual(["", "next"]);
    const event = { id: 9, session: "sess_1", originator: "cli_1", ts: "2026-01-01T00:00:09Z", ...says("x") };
    const next = reduce(before, event as unknown as Envelope);
    expect(next.turns[0]).toBe(before.turns[0]);
    expect(next.turns[1]).not.toBe(before.turns[1]);
    expect(next.last).toBe(9);
  });
});
