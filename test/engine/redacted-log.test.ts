import fc from "fast-check";
import { describe, expect } from "vitest";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { EventBody } from "../../src/protocol/events.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { NO_USAGE } from "../../src/protocol/usage.js";
import { redact } from "../../src/security/redact/redact.js";
import { RedactedPieces } from "../../src/security/redact/redacting-stream.js";
import { EventRedaction, NOT_RECORDED } from "../../src/sessions/redacted-events.js";
import { ids } from "../support/engine.js";
import { verifies } from "../verifies.js";

/** Built here, so that no scanner takes it for a real one. */
const SECRET = `ghp_${"A1b2C3d4E5f6G7h8I9j0".repeat(2).slice(0, 36)}`;
const session = ids.next("sess");
const originator = ids.next("cli");

function envelopes(bodies: readonly EventBody[]): Envelope[] {
  return bodies.map(
    (body, i) => ({ id: i + 1, session, originator, ts: "2026-01-31T12:00:00.000Z", ...body }) as Envelope,
  );
}

function redacted(events: readonly Envelope[]): Envelope[] {
  const redaction = new EventRedaction({ redact, stream: () => new RedactedPieces() });
  return [...events.flatMap((event) => redaction.take(event)), ...redaction.end()];
}

const delta = (text: string): EventBody => ({ kind: "TextDelta", payload: { text } });

describe("secrets on the way to the log", () => {
  verifies(["S4"], "are hidden however the answer was cut, and every event keeps its place", () => {
    const words = `Use ${SECRET} as the token, then go on.\nDone.`;
    const cuts = fc.array(fc.nat(words.length), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (at) => {
        const borders = [0, ...at.sort((a, b) => a - b), words.length];
        const pieces = borders.slice(1).map((end, i) => words.slice(borders[i], end));
        const events = envelopes([
          ...pieces.map(delta),
          { kind: "CustomEvent", payload: { namespace: "n", kind: "k", payload: 1 } },
        ]);
        const stored = redacted(events);
        expect(stored.map(({ id, kind }) => [id, kind])).toEqual(events.map(({ id, kind }) => [id, kind]));
        const text = stored.map((event) => (event.kind === "TextDelta" ? event.payload.text : "")).join("");
        expect(text).toBe(redact(words));
        expect(text).not.toContain(SECRET);
      }),
      { seed: 6 },
    );
  });

  verifies(["S4", "M9"], "are hidden also when the stream broke in the middle of one", () => {
    const turn = ids.next("turn");
    const attempt = {
      provider: "p",
      model: "m",
      reason: "StreamInterrupted",
      message: "broke",
      wait_ms: 1,
      attempt: 1,
    } as const;
    const events = envelopes([
      delta(`Use ${SECRET.slice(0, 20)}`),
      {
        kind: "CostIncremented",
        payload: { turn, provider: "p", model: "m", usage: NO_USAGE, elapsed_ms: 1, abandoned: true },
      },
      { kind: "Retrying", payload: { turn, ...attempt } },
      delta(`${SECRET.slice(20)} now.`),
    ]);
    const stored = redacted(events);
    expect(stored.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(JSON.stringify(stored)).not.toContain(SECRET.slice(4, 20));
    expect(JSON.stringify(stored)).not.toContain(SECRET.slice(20));
  });

  verifies(
    ["S4", "C3"],
    "leave every delta as clients got it, except the one in which a secret begins and the rest of it",
    () => {
      const words = `Open the auth file, and set the token to ${SECRET} there.\nThen go on: nothing else is to be done.`;
      const secretFrom = words.indexOf(SECRET);
      const cuts = fc.array(fc.nat(words.length), { maxLength: 40 });
      fc.assert(
        fc.property(cuts, (at) => {
          const borders = [0, ...at.sort((a, b) => a - b), words.length];
          const pieces = borders.slice(1).map((end, i) => words.slice(borders[i], end));
          const stored = redacted(envelopes(pieces.map(delta)));
          const marker = redact(SECRET);
          const expected = pieces.map((piece, i) => {
            const from = borders[i] ?? 0;
            const before = piece.slice(0, Math.max(0, secretFrom - from));
            const after = piece.slice(Math.max(0, secretFrom + SECRET.length - from));
            const begins = from <= secretFrom && secretFrom < from + piece.length;
            return before + (begins ? marker : "") + after;
          });
          expect(stored.map(({ payload }) => payload)).toEqual(expected.map((text) => ({ text })));
        }),
        { seed: 8 },
      );
    },
  );

  verifies(["S4"], "holds back a word until it ends, and a line from a hint at a secret on", () => {
    const redaction = new EventRedaction({ redact, stream: () => new RedactedPieces() });
    const events = envelopes(["One w", "o", "rd ", "the pass", "word is ", "not here.\nNext", " line"].map(delta));
    expect(events.map((event) => redaction.take(event).map(({ id }) => id))).toEqual([
      [],
      [],
      [1, 2, 3],
      [],
      [],
      [4, 5],
      [6],
    ]);
    expect(redaction.end().map(({ id }) => id)).toEqual([7]);
  });

  verifies(["S4"], "are hidden in input, arguments, questions, results, failures and malformed calls", () => {
    const call = ids.next("call");
    const turn = ids.next("turn");
    const args = { command: `curl -H 'Authorization: Bearer ${SECRET}'`, nested: [{ token: SECRET }] };
    const events = envelopes([
      { kind: "TurnStarted", payload: { turn, input: [{ type: "text", text: `my key is ${SECRET}` }] } },
      { kind: "ToolCallStarted", payload: { call, tool: "bash", args } },
      { kind: "PermissionRequested", payload: { call, tool: "bash", args, summary: `bash: ${args.command}` } },
      { kind: "ToolResult", payload: { call, tool: "bash", status: "ok", content: [{ type: "text", text: SECRET }] } },
      { kind: "Error", payload: { reason: "Internal", message: `no ${SECRET}` } },
      {
        kind: "AnswerEnded",
        payload: {
          turn,
          provider: "p",
          model: "m",
          blocks: [{ type: "tool_use", call, malformed: `{"token": "${SECRET}` }],
        },
      },
    ]);
    const stored = redacted(events);
    expect(JSON.stringify(stored)).not.toContain(SECRET);
    // Names are not content: with other ids the log could not be read any more.
    expect(JSON.stringify(stored).match(new RegExp(call, "g"))).toHaveLength(4);
    expect(JSON.stringify(stored).match(new RegExp(turn, "g"))).toHaveLength(2);
  });

  verifies(["S4"], "leaves what a provider wants back verbatim, and pictures", () => {
    const opaque = { signature: SECRET };
    const events = envelopes([
      { kind: "ThinkingDelta", payload: { text: `hm, ${SECRET}` } },
      { kind: "ThinkingDelta", payload: { text: "", provider: "p", opaque } },
      {
        kind: "TurnStarted",
        payload: { turn: ids.next("turn"), input: [{ type: "image", media_type: "image/png", data: SECRET }] },
      },
    ]);
    const [thought, closing, input] = redacted(events);
    expect(JSON.stringify(thought)).not.toContain(SECRET);
    expect(closing?.payload).toMatchObject({ opaque });
    expect(JSON.stringify(input)).toContain(SECRET);
  });
});

describe("an event that cannot be recorded", () => {
  const nested = (levels: number): JsonObject => {
    let value: JsonObject = {};
    for (let level = 0; level < levels; level++) value = { a: value };
    return value;
  };
  const circular: Record<string, unknown> = {};
  circular.self = circular;

  verifies(["S1", "S4"], "goes to the log without its content, so that no id is missing", () => {
    const call = ids.next("call");
    const result = { call, tool: "t", status: "ok", content: [{ type: "text", text: "x" }] } as const;
    const events = envelopes([
      delta(`before ${SECRET}`),
      { kind: "ToolCallStarted", payload: { call, tool: "t", args: nested(100_000) } },
      { kind: "ToolResult", payload: { ...result, details: circular as JsonObject } },
      { kind: "ToolResult", payload: { ...result, details: { size: 1n } as unknown as JsonObject } },
      delta("after"),
    ]);
    const written = redacted(events);
    expect(written.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(JSON.stringify(written)).not.toContain(SECRET);
    expect(written[1]).toMatchObject({ kind: "ToolCallStarted", payload: { call, tool: "t", args: {} } });
    expect(written[2]?.payload).toEqual({
      call,
      tool: "t",
      status: "ok",
      content: [{ type: "text", text: NOT_RECORDED }],
    });
  });

  verifies(["S1", "S4"], "is not written as it came when hiding secrets fails", () => {
    const failing = () => {
      throw new Error("no");
    };
    const redaction = new EventRedaction({ redact: failing, stream: () => ({ push: failing, end: failing }) });
    const events = envelopes([
      delta(SECRET),
      { kind: "Notice", payload: { level: "warning", message: SECRET } },
      {
        kind: "PermissionRequested",
        payload: { call: ids.next("call"), tool: "t", args: {}, summary: SECRET, offer: [SECRET] },
      },
    ]);
    const written = [...events.flatMap((event) => redaction.take(event)), ...redaction.end()];
    expect(written.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(JSON.stringify(written)).not.toContain(SECRET);
  });
});
