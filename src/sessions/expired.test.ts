import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { createIdSource } from "../base/ulid.js";
import { withOldShape } from "../protocol/answer-ends.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventBody } from "../protocol/events.js";
import { EXPIRED } from "../protocol/events.js";
import { NO_USAGE } from "../protocol/usage.js";
import { withoutContent } from "./expired.js";

const ids = createIdSource({ wall: () => 0, random: (bytes) => bytes.fill(1) });
const [turn, call] = [ids.next("turn"), ids.next("call")];
const frame = { id: 7, session: ids.next("sess"), originator: ids.next("cli"), ts: "2026-01-31T12:00:00.000Z" };
const left = (body: EventBody) => withoutContent({ ...frame, ...body } as Envelope);

describe("what remains of an event", () => {
  verifies(["S5"], "has the author, the time, the tool, the outcome and the cost, and no text", () => {
    const said = [{ type: "text", text: "words" }] as const;
    const gone = [{ type: "text", text: EXPIRED }];
    const failure = { reason: "NetworkFailed", message: "words", retryable: true } as const;
    const usage = { ...NO_USAGE, input: 5 };
    const cases: readonly (readonly [EventBody, object])[] = [
      [
        {
          kind: "TurnStarted",
          payload: { turn, input: [...said, { type: "image", media_type: "image/png", data: "x" }] },
        },
        { turn, input: gone },
      ],
      [{ kind: "TextDelta", payload: { text: "words" } }, { text: EXPIRED }],
      [
        { kind: "ThinkingDelta", payload: { text: "words", provider: "p", opaque: "words" } },
        { text: EXPIRED, provider: "p" },
      ],
      [
        { kind: "ToolCallStarted", payload: { call, tool: "bash", args: { command: "words" } } },
        { call, tool: "bash", args: {} },
      ],
      [
        { kind: "ToolCallProgress", payload: { call, text: "words" } },
        { call, text: EXPIRED },
      ],
      [
        {
          kind: "ToolResult",
          payload: { call, tool: "bash", status: "error", content: said, details: { diff: "words" } },
        },
        { call, tool: "bash", status: "error", content: gone },
      ],
      [
        {
          kind: "CostIncremented",
          payload: withOldShape({ turn, provider: "p", model: "m", usage, elapsed_ms: 3 }, { interrupted: true }),
        },
        { turn, provider: "p", model: "m", usage, elapsed_ms: 3 },
      ],
      [
        {
          kind: "AnswerEnded",
          payload: {
            turn,
            provider: "p",
            model: "m",
            stop: "end",
            blocks: [{ type: "tool_use", call, malformed: "words" }],
          },
        },
        { turn, provider: "p", model: "m", stop: "end" },
      ],
      [
        { kind: "TurnEnded", payload: { turn, outcome: "failed", text: "words", iterations: 2, usage, failure } },
        { turn, outcome: "failed", text: EXPIRED, iterations: 2, usage, failure: { ...failure, message: EXPIRED } },
      ],
      [
        { kind: "PermissionResolved", payload: { call, tool: "t", decision: "deny", decided_by: "rule" } },
        { call, tool: "t", decision: "deny", decided_by: "rule" },
      ],
      [{ kind: "SessionEnded", payload: { reason: "user" } }, { reason: "user" }],
    ];
    for (const [body, payload] of cases) expect(left(body)).toEqual({ ...frame, kind: body.kind, payload });
  });

  verifies(["S5"], "does not change when it expires again", () => {
    const once = left({ kind: "CustomEvent", payload: { namespace: "n", kind: "k", payload: { deep: ["words"] } } });
    expect(once.payload).toEqual({ namespace: "n", kind: "k", payload: EXPIRED });
    expect(withoutContent(once)).toEqual(once);
  });
});
