import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { isId } from "../protocol/ids.js";
import { branchEvents, branchIds, derivedId, nextBranchIds, requireBoundary, turnsOf } from "./branch.js";
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
const TARGET = { from: SESSION, session: OTHER_SESSION, log: OTHER_LOG };
const FIRST_END = 16;
const SECOND_END = 22;

/** Every string value of a JSON value. */
function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

describe("branches", () => {
  verifies(["S6"], "hold the events up to the end of a turn, in order and in the new session", async () => {
    const branch = await collect(branchEvents(stream(sampleEvents()), { ...TARGET, at: FIRST_END }));
    expect(branch).toHaveLength(FIRST_END);
    expect(branch.at(-1)?.kind).toBe("TurnEnded");
    expect(orderProblems(branch, OTHER_SESSION)).toEqual([]);
    expect(new Set(branch.map(({ originator }) => originator))).toEqual(new Set([CLIENT]));
  });

  verifies(["S6"], "have new ids in every field and leave texts alone", async () => {
    const source = sampleEvents();
    const branch = await collect(branchEvents(stream(source), { ...TARGET, at: SECOND_END }));
    const isOurs = (value: string) => /^(?:sess|turn|call)_/.test(value);
    const old = new Set(strings(source).filter(isOurs));
    const now = strings(branch).filter(isOurs);
    expect(now.filter((id) => old.has(id))).toEqual([]);
    expect(now).toEqual(
      strings(source.slice(0, SECOND_END))
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

  verifies(["S6"], "are the same for all readers that cut at the same place, and another for each copy", async () => {
    expect(branchIds(SOURCE, FIRST_END)).toEqual(branchIds({ ...SOURCE }, FIRST_END));
    const made = [branchIds(SOURCE, 16), branchIds(SOURCE, 22), branchIds(SOURCE, 16, 1), branchIds(SOURCE, 1, 61)];
    expect(new Set(made.map(({ log }) => log)).size).toBe(made.length);
    const taken = new Set<string>([branchIds(SOURCE, 16).session, branchIds(SOURCE, 16, 1).session]);
    expect(await nextBranchIds(SOURCE, 16, async (id) => taken.has(id))).toEqual(branchIds(SOURCE, 16, 2));
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

  verifies(["S6"], "are refused anywhere but at the end of a turn, with the nearest ends", async () => {
    const cases: readonly [number, string][] = [
      [3, "The nearest end is event 16."],
      [19, "The nearest ends are event 16 and event 22."],
      [23, "The nearest end is event 22."],
      [99, "The nearest end is event 22."],
    ];
    for (const [at, advice] of cases) {
      const problem = expect.objectContaining({ code: "invalid", message: expect.stringContaining(advice) });
      await expect(requireBoundary(stream(sampleEvents()), at)).rejects.toEqual(problem);
      await expect(collect(branchEvents(stream(sampleEvents()), { ...TARGET, at }))).rejects.toEqual(problem);
    }
    await expect(requireBoundary(stream(sampleEvents().slice(0, 5)), 5)).rejects.toThrow(
      "No turn of this session has ended yet",
    );
    await requireBoundary(stream(sampleEvents()), SECOND_END);
  });

  it("take no events of another session", async () => {
    const options = { ...TARGET, from: OTHER_SESSION, at: FIRST_END };
    await expect(collect(branchEvents(stream(sampleEvents()), options))).rejects.toMatchObject({ code: "invalid" });
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
