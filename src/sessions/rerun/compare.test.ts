import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionRecord } from "../store.js";
import { compare, renderComparison } from "./compare.js";
import { type TurnFacts, turnFacts } from "./turn-facts.js";

type Call = readonly [tool: string, args: object, details?: object];

interface Planned {
  readonly input: string;
  readonly calls: readonly Call[];
  readonly text: string;
}

/** The events of a session: an input, its calls and the answer of each turn. */
async function* session(...turns: readonly Planned[]) {
  let id = 0;
  const event = (kind: string, payload: object) =>
    ({ id: ++id, kind, ts: new Date(1e12 + id * 1000).toISOString(), payload }) as unknown as Envelope;
  for (const [index, { input, calls, text }] of turns.entries()) {
    const turn = `turn_${index}`;
    const usage = { input: 10, output: 2, cache_read: 0, cache_write: 0, reasoning: 0 };
    yield event("TurnStarted", { turn, input: [{ type: "text", text: input }] });
    for (const [tool, args, details] of calls) {
      const call = `call_${id}`;
      yield event("ToolCallStarted", { call, tool, args });
      yield event("ToolResult", { call, tool, status: "ok", content: [], ...(details && { details }) });
    }
    yield event("CostIncremented", { turn, provider: "p", model: "m", usage, elapsed_ms: 1, cost: { usd: 0.5 } });
    yield event("TurnEnded", { turn, outcome: "answered", text, iterations: 1, usage });
  }
}

async function side(id: string, ...turns: readonly Planned[]) {
  const facts: TurnFacts[] = [];
  for await (const turn of turnFacts(session(...turns))) facts.push(turn);
  const record = { id, provider: "p", model: "m", cwd: "/w" } as unknown as SessionRecord;
  return { record, turns: facts, filesOf: () => undefined };
}

const FIRST = { input: "look", calls: [["read", { path: "a" }]], text: "seen" } as const;
const wrote = (content: string, added: number) => ({
  input: "write",
  calls: [["write", { path: "a.txt", content }, { path: "a.txt", created: true, added, removed: 0 }]] as const,
  text: "written",
});

describe("sessions side by side", () => {
  verifies(["S12"], "leave out the turns that all begin with, and show what differs in the others", async () => {
    const long = "x".repeat(1000);
    const compared = compare([
      await side("sess_a", FIRST, wrote(`${long}1`, 1), { input: "more", calls: [], text: "no" }),
      // The arguments differ behind what is shown of them.
      await side("sess_b", FIRST, wrote(`${long}2`, 4)),
    ]);
    expect(compared.same_turns).toBe(1);
    expect(compared.turns.map(({ number, same }) => [number, same])).toEqual([
      [2, false],
      [3, false],
    ]);
    const [second, third] = compared.turns;
    expect(second?.sides).toMatchObject([
      { calls: 1, model: "p:m", usd: 0.5, files: [{ path: "a.txt", change: "new", added: 1 }], elapsed_ms: 4000 },
      { files: [{ added: 4 }], made: [{ tool: "write", status: "ok" }] },
    ]);
    expect(third?.sides[1]).toBeNull();
    expect(compared.sessions.map(({ totals }) => totals)).toMatchObject([
      { turns: 2, calls: 1, files: 1, added: 1, usd: 1, usage: { input: 20, output: 4 } },
      { turns: 1, calls: 1, files: 1, added: 4, usd: 0.5 },
    ]);
  });

  verifies(["S12"], "count a turn as the same whatever it cost, and fold it between turns that differ", async () => {
    const other = { ...FIRST, calls: [["read", { path: "b" }]] as const };
    const compared = compare([await side("sess_a", FIRST, FIRST), await side("sess_b", other, FIRST)]);
    expect(compared.same_turns).toBe(0);
    expect(compared.turns.map(({ same }) => same)).toEqual([false, true]);
    const equal = compare([await side("sess_a", FIRST), await side("sess_b", FIRST)]);
    expect([equal.same_turns, equal.turns, equal.sessions[0]?.totals.calls]).toEqual([1, [], 0]);
  });

  verifies(["S12"], "fit the screen, without control characters of a model", async () => {
    const evil = { input: "\u001b[2Jclear", calls: [["bash", { command: "\u001b]0;x\u0007" }]] as const, text: "a\nb" };
    const compared = compare([await side("sess_a", evil), await side("sess_b", FIRST), await side("sess_c")]);
    const text = renderComparison(compared, 100);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(text).toContain("They have no turn in common.");
  });
});
