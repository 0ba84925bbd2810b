import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { isId } from "../protocol/ids.js";
import { branchIds, derivedId, turnsOf, withNewIds } from "./branch.js";
import {
  CLIENT,
  call,
  collect,
  envelopes,
  LOG,
  OTHER_LOG,
  OTHER_SESSION,
  orderProblems,
  SESSION,
  sampleEvents,
  stream,
  turn,
  usage,
} from "./transfer/test-support/sample.js";

const SOURCE = { session: SESSION, log: LOG };
const TARGET = { session: OTHER_SESSION, log: OTHER_LOG };
const FIRST_END = 16;
const SECOND_END = 22;

/** Every string value of a JSON value. */
function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

describe("branches", () => {
  verifies(["S6"], "have new ids in every field and leave texts alone", () => {
    const source = sampleEvents();
    const branch = source.map((event) => withNewIds(event, TARGET));
    expect(orderProblems(branch, OTHER_SESSION)).toEqual([]);
    expect(new Set(branch.map(({ originator }) => originator))).toEqual(new Set([CLIENT]));
    const isOurs = (value: string) => /^(?:sess|turn|call)_/.test(value);
    const old = new Set(strings(source).filter(isOurs));
    const now = strings(branch).filter(isOurs);
    expect(now.filter((id) => old.has(id))).toEqual([]);
    expect(now).toEqual(
      strings(source)
        .filter(isOurs)
        .map((id) =>
          id === SESSION ? OTHER_SESSION : derivedId(id.startsWith("turn") ? "turn" : "call", id, OTHER_LOG),
        ),
    );
    for (const id of now) expect(["sess", "turn", "call"].some((prefix) => isId(prefix as "sess", id))).toBe(true);
    const started = branch[0];
    expect(started?.kind === "TurnStarted" && started.payload.input).toEqual([
      { type: "text", text: `how many files? see ${call("H")}` },
    ]);
  });

  verifies(["S6"], "get their ids by the published rule", () => {
    const source = { session: "sess_01ARZ3NDEKTSV4RRFFQ69G5FAV", log: "log_01ARZ3NDEKTSV4RRFFQ69G5FAV" } as const;
    const ids = branchIds(source, 42);
    expect(ids).toEqual({ session: "sess_2PKR6MHWATN75F2MZR47PZPMAY", log: "log_1N3W131V31VJ0CN2HDPS1739RN" });
    expect(derivedId("call", "call_01ARZ3NDEKTSV4RRFFQ69G5FAV", ids.log)).toBe("call_2RECGPRNGCHZ1121EE4TWCMKQX");
    expect(branchIds(source, 42, 1).log).toBe("log_7KDC0K7H5ESNFHEGCDE6T8EG6Z");
  });

  verifies(["S6"], "are the same for all readers that cut at the same place, and another for each copy", () => {
    expect(branchIds(SOURCE, FIRST_END)).toEqual(branchIds({ ...SOURCE }, FIRST_END));
    const made = [branchIds(SOURCE, 16), branchIds(SOURCE, 22), branchIds(SOURCE, 16, 1), branchIds(SOURCE, 1, 61)];
    expect(new Set(made.map(({ log }) => log)).size).toBe(made.length);
  });

  it("never gives two ids one successor, and always the same", () => {
    const text = fc.string({ minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.uniqueArray(text, { minLength: 2, maxLength: 200 }), (olds) => {
        const news = olds.map((old) => derivedId("call", old, OTHER_LOG));
        expect(new Set(news).size).toBe(olds.length);
        expect(olds.map((old) => derivedId("call", old, OTHER_LOG))).toEqual(news);
        expect(news.every((id) => isId("call", id))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("use all of the first 128 bits of the hash", () => {
    fc.assert(
      fc.property(fc.string(), (old) => {
        const bits = BigInt(`0x${createHash("sha256").update(`${old}${LOG}`).digest("hex").slice(0, 32)}`);
        let value = 0n;
        for (const letter of derivedId("turn", old, LOG).slice(5)) {
          value = value * 32n + BigInt("0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(letter));
        }
        expect(value).toBe(bits);
      }),
    );
  });
});

describe("the list of turns", () => {
  verifies(["S6"], "has the input, the outcome and the position for a cut", async () => {
    expect(await collect(turnsOf(stream(sampleEvents())))).toEqual([
      {
        number: 1,
        turn: turn("F"),
        startEvent: 1,
        startedAt: "2026-03-01T10:00:00.000Z",
        endEvent: FIRST_END,
        outcome: "answered",
        input: `how many files? see ${call("H")}`,
        text: "There are three.",
        toolCalls: 2,
        usage: usage(10, 5),
      },
      expect.objectContaining({
        number: 2,
        startEvent: 17,
        endEvent: SECOND_END,
        outcome: "cancelled",
        text: "I stop",
      }),
    ]);
  });

  it("shows a turn without an end with what has come so far", async () => {
    const [open] = await collect(turnsOf(stream(sampleEvents().slice(0, 14))));
    expect(open).toMatchObject({ number: 1, text: "There are three.", toolCalls: 2, usage: usage(10, 5) });
    expect(open?.endEvent).toBeUndefined();
  });

  it("cuts long text, never through a character", async () => {
    const long = "😀".repeat(5000);
    const events = envelopes([
      { kind: "TurnStarted", payload: { turn: turn("F"), input: [{ type: "text", text: `x${long}` }] } },
      ...Array.from({ length: 50 }, () => ({ kind: "TextDelta", payload: { text: long } }) as const),
    ]);
    const [open] = await collect(turnsOf(stream(events)));
    for (const text of [open?.input ?? "", open?.text ?? ""]) {
      expect(text.length).toBeLessThanOrEqual(500);
      expect(text).toMatch(/😀…$/u);
      expect(text).not.toMatch(/\p{Surrogate}/u);
    }
  });
});
