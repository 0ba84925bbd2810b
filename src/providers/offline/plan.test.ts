import { describe, expect, it } from "vitest";
import { call, MAX_CALLS_PER_TURN, nextStep, type Plan, type ToolFact } from "./plan.js";

const tools = { has: (tool: string) => tool !== "missing" };
function fact(path: string, more: Partial<ToolFact> = {}): ToolFact {
  return { tool: "read", args: { path, limit: 5 }, text: `text of ${path}`, failed: false, ...more };
}

function step(plan: Plan, facts: readonly ToolFact[]) {
  return nextStep(plan, { facts, tools });
}

function* twoReads(): Plan {
  const first = yield* call({ tool: "read", args: { limit: 5, path: "a" } });
  const second = yield* call({ tool: "read", args: { limit: 5, path: "b" }, mayFail: true });
  return `${first.text}, ${second.failed ? "nothing" : second.text}`;
}

describe("a plan", () => {
  it("asks for one result after the other and then answers", () => {
    expect(step(twoReads(), [])).toMatchObject({ type: "calls", calls: [{ tool: "read", args: { path: "a" } }] });
    expect(step(twoReads(), [fact("a")])).toMatchObject({ type: "calls", calls: [{ args: { path: "b" } }] });
    expect(step(twoReads(), [fact("a"), fact("b")])).toEqual({ type: "answer", text: "text of a, text of b" });
  });

  it("skips results of calls that it did not make", () => {
    const foreign = [fact("x"), fact("a"), { ...fact("b"), tool: "ls" }, fact("b")];
    expect(step(twoReads(), foreign)).toEqual({ type: "answer", text: "text of a, text of b" });
  });

  it("does not use one result for two calls", () => {
    function* same(): Plan {
      const before = yield* call({ tool: "read", args: { path: "a", limit: 5 } });
      const after = yield* call({ tool: "read", args: { path: "a", limit: 5 } });
      return `${before.text} ${after.text}`;
    }
    expect(step(same(), [fact("a")]).type).toBe("calls");
    expect(step(same(), [fact("a", { text: "1" }), fact("a", { text: "2" })])).toEqual({ type: "answer", text: "1 2" });
  });

  it("asks only for what is missing of a batch", () => {
    function* batch(): Plan {
      const facts = yield ["a", "b"].map((path) => ({ tool: "read", args: { path, limit: 5 } }));
      return facts.map(({ text }) => text).join();
    }
    expect(step(batch(), [])).toMatchObject({ calls: [{ args: { path: "a" } }, { args: { path: "b" } }] });
    expect(step(batch(), [fact("a")])).toMatchObject({ calls: [{ args: { path: "b" } }] });
    expect(step(batch(), [fact("a"), fact("b")])).toEqual({ type: "answer", text: "text of a,text of b" });
  });

  it("ends at an unexpected failure, and continues after an expected one", () => {
    expect(step(twoReads(), [fact("a", { failed: true })])).toMatchObject({
      text: expect.stringContaining("I could not finish: `read` (a) failed."),
    });
    expect(step(twoReads(), [fact("a"), fact("b", { failed: true })])).toEqual({
      type: "answer",
      text: "text of a, nothing",
    });
  });

  it("ends with any refusal", () => {
    const refused = fact("b", { failed: true, text: "Denied." });
    expect(step(twoReads(), [fact("a"), refused])).toMatchObject({
      text: expect.stringContaining("`read` (b) was not permitted"),
    });
  });

  it("names the command that opens a folder outside the workspace, and no mode, which would not", () => {
    const text =
      "Denied by workspace boundary. /etc/hosts is outside the workspace, and this tool works only inside it.";
    const answer = step(twoReads(), [fact("a"), fact("b", { failed: true, text })]);
    expect(answer).toMatchObject({ text: expect.stringContaining("/add-dir") });
    expect(answer).toMatchObject({ text: expect.not.stringContaining("--permission-mode") });
  });

  it("calls no tool that was not offered", () => {
    function* needy(): Plan {
      return (yield* call({ tool: "missing", args: {} })).text;
    }
    expect(step(needy(), [])).toMatchObject({ text: expect.stringContaining("That needs the tool `missing`") });
  });

  it("is bounded", () => {
    function* endless(): Plan {
      for (let n = 0; ; n++) yield* call({ tool: "read", args: { path: String(n), limit: 5 } });
    }
    const facts: ToolFact[] = [];
    for (let n = 0; n < MAX_CALLS_PER_TURN; n++) {
      expect(step(endless(), facts).type).toBe("calls");
      facts.push(fact(String(n)));
    }
    expect(step(endless(), facts)).toMatchObject({
      text: expect.stringContaining(`I stopped after ${MAX_CALLS_PER_TURN} tool calls`),
    });
  });
});
