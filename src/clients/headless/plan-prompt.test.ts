import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { askPlan } from "./plan-prompt.js";
import type { Terminal } from "./terminal.js";

async function given(...lines: readonly (string | undefined)[]) {
  const written: string[] = [];
  const left = [...lines];
  const err = { isTerminal: true, columns: 80, write: (piece: string) => void written.push(piece) };
  const askLine = async (question: string) => {
    written.push(`${question}\n`);
    return left.shift();
  };
  const terminal: Terminal = { out: err, err, showProgress: true, color: false, askLine };
  const answer = await askPlan(terminal, new AbortController().signal);
  return { answer, text: written.join("") };
}

const CARRY_OUT = { kind: "carry out" };
const CANCEL = { kind: "cancel" };
const keep = (message: string) => ({ kind: "keep planning", message });

describe("the question about a plan in the line client", () => {
  for (const [lines, answer] of [
    [["y"], CARRY_OUT],
    [["1"], CARRY_OUT],
    [["yes, go ahead"], CARRY_OUT],
    [["e"], { kind: "carry out, review edits" }],
    [["k", "use a table"], keep("use a table")],
    [["k use a table"], keep("use a table")],
    [["leave the tests out"], keep("leave the tests out")],
    [["k", ""], CANCEL],
    [["c"], CANCEL],
    [[""], CANCEL],
    [[undefined], CANCEL],
    [["hm", "y"], CARRY_OUT],
    [["/exit"], { kind: "line", text: "/exit" }],
    [["!ls"], { kind: "line", text: "!ls" }],
  ] as const) {
    verifies(["L16"], `takes ${JSON.stringify(lines)}`, async () => {
      expect((await given(...lines)).answer).toEqual(answer);
    });
  }

  verifies(["L16"], "offers four answers", async () => {
    const { text } = await given("hm", "c");
    expect(text).toContain("Carry out this plan?\n  [y] yes, carry it out\n  [e] yes, and ask for each edit\n");
    expect(text).toContain("Please answer y, e, k or c.");
  });
});
