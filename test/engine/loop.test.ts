import { describe, expect, it } from "vitest";
import { AbortNode } from "../../src/base/abort-tree.js";
import { ManualClock } from "../../src/base/clock.js";
import { TurnFailure } from "../../src/engine/cancel.js";
import type { ModelEvent } from "../../src/engine/ports.js";
import type { NamedHook } from "../../src/engine/turn.js";
import { plainText, text } from "../../src/protocol/content.js";
import { failure } from "../../src/protocol/errors.js";
import { NO_USAGE } from "../../src/protocol/usage.js";
import { call, calls, deferred, ok, type Part, says, scriptedModel, testEngine, tool } from "../support/engine.js";
import { verifies } from "../verifies.js";

const echo = tool("echo", async (args) => ok(`heard ${args.word}`));

describe("the loop", () => {
  verifies(["L1", "L11"], "follows start → … → done with one TurnStarted and one TurnEnded", async () => {
    const model = scriptedModel([calls(call("echo", { word: "hi" })), says("It said hi.")]);
    const engine = testEngine({ model, tools: [echo] });
    const result = await engine.turn("say hi");
    expect(result).toMatchObject({ outcome: "answered", text: "It said hi.", iterations: 2 });
    expect(engine.kinds()).toEqual([
      "TurnStarted",
      "ToolCallStarted",
      "AnswerEnded",
      "CostIncremented",
      "ToolResult",
      "TextDelta",
      "AnswerEnded",
      "CostIncremented",
      "TurnTiming",
      "TurnEnded",
    ]);
    expect(engine.events.map((event) => event.id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(engine.conversation.map((message) => message.role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(model.requests[1]?.messages[2]).toMatchObject({
      content: [{ type: "tool_result", is_error: false, content: [text("heard hi")] }],
    });
  });

  verifies(["L4"], "ends at the iteration limit with a structured outcome", async () => {
    const endless = Array.from({ length: 5 }, () => calls(call("echo", { word: "again" })));
    const engine = testEngine({ model: scriptedModel(endless), tools: [echo], maxIterations: 3 });
    const result = await engine.turn("loop");
    expect(result).toMatchObject({ outcome: "limit", iterations: 3, failure: { reason: "IterationLimit" } });
    const last = engine.conversation.at(-1);
    expect(last?.content[0]?.type).toBe("tool_result");
  });

  verifies(["L4"], "ends at a yield block even when there are tool calls, and answers those calls", async () => {
    const yielding = calls(call("echo"), { type: "block", block: { type: "yield" } });
    const engine = testEngine({
      model: scriptedModel([yielding]),
      tools: [tool("echo", async () => ok(""), { mutating: true })],
    });
    expect((await engine.turn("go")).outcome).toBe("answered");
    expect(engine.kinds("ToolResult")).toHaveLength(1);
    expect(engine.conversation.at(-1)?.content[0]).toMatchObject({ type: "tool_result", is_error: true });
  });

  verifies(["L4", "M9"], "ends an answer that is too long; text that was withdrawn does not count", async () => {
    const part = (...events: readonly ModelEvent[]) =>
      async function* () {
        yield [...events, { type: "stop", reason: "end" } as const];
      };
    const words = (length: number): ModelEvent => ({ type: "text", text: "x".repeat(length) });
    const turn = (...events: readonly ModelEvent[]) =>
      testEngine({ model: scriptedModel([part(...events)]), maxAnswerCharacters: 10 }).turn("go");
    expect(await turn(words(6), words(4))).toMatchObject({ outcome: "answered", text: "x".repeat(10) });
    const tooLong = { outcome: "failed", failure: { reason: "AnswerTooLong" } };
    expect(await turn(words(6), words(5))).toMatchObject(tooLong);
    expect(await turn({ type: "thinking", text: "y".repeat(6) }, words(5))).toMatchObject(tooLong);
    expect(await turn(words(6), call("echo", { word: "x".repeat(9) }))).toMatchObject(tooLong);
    const retracted = await turn(words(6), { type: "retract", reason: "Overloaded" }, words(5));
    expect(retracted).toMatchObject({ outcome: "answered", text: "x".repeat(5) });
  });

  verifies(["L4", "L8", "L21"], "says that an answer was cut inside a call, and stops after two", async () => {
    const ran: string[] = [];
    const write = tool(
      "write",
      async ({ path }) => {
        ran.push(String(path));
        return ok("written");
      },
      { concurrencySafe: false, mutating: true },
    );
    const cut: Part = async function* () {
      const block = { type: "tool_call" as const, tool: "write", args: {}, malformed: '{"path":"a","content":"one' };
      yield [
        { type: "usage", usage: { ...NO_USAGE, output: 8192 } },
        { type: "block", block },
        { type: "stop", reason: "length" },
      ];
    };
    // Cut before the first argument.
    const bare: Part = async function* () {
      yield [call("write"), { type: "stop", reason: "length" }];
    };
    const whole = calls(call("write", { path: "b" }));
    const once = testEngine({ model: scriptedModel([cut, whole, bare, says("Done.")]), tools: [write] });
    expect(await once.turn("go")).toMatchObject({ outcome: "answered" });
    const [first] = once.events.flatMap((event) =>
      event.kind === "ToolResult" ? [plainText(event.payload.content)] : [],
    );
    expect(first).toBe(
      "Your answer reached the output limit of 8,192 tokens, so this call was cut and not run. Write the file in parts.",
    );
    const model = scriptedModel([cut, cut, says("never")]);
    const twice = testEngine({ model, tools: [write] });
    const message = expect.stringContaining("reached the output limit of 8,192 tokens twice");
    expect(await twice.turn("go")).toMatchObject({ outcome: "failed", failure: { reason: "AnswersCut", message } });
    expect(model.requests.length).toBe(2);
    expect(ran).toEqual(["b"]);
  });

  verifies(["L2", "L4"], "ends a turn whose hooks never go on, after the hooks for an error", async () => {
    let visits = 0;
    const seen: string[] = [];
    const circling: NamedHook = {
      name: "05-circle",
      run: async () => {
        visits++;
        return { next: "start" };
      },
    };
    const onError: NamedHook = {
      name: "95-late",
      run: async () => {
        await new Promise(setImmediate);
        seen.push(`error hook, ended: ${engine.kinds("TurnEnded").length}`);
      },
    };
    const model = scriptedModel([]);
    const extraHooks = { start: [circling], error: [onError] };
    const engine = testEngine({ model, maxIterations: 1, extraHooks });
    expect(await engine.turn("go")).toMatchObject({
      outcome: "failed",
      iterations: 0,
      failure: { reason: "Internal" },
    });
    // Eight stages for each iteration that it may have, and two more.
    expect([visits, seen, model.requests.length]).toEqual([8 * 3, ["error hook, ended: 0"], 0]);
  });

  verifies(["M9"], "counts the time of each attempt without the wait before it", async () => {
    const clock = new ManualClock();
    const used = (input: number): ModelEvent => ({
      type: "usage",
      usage: { input, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 },
    });
    const busy = failure("Overloaded", { name: "x" });
    const part = async function* (): AsyncGenerator<ModelEvent[]> {
      clock.advance(100);
      yield [used(1), { type: "again", failure: busy, waitMs: 500, attempt: 1 }];
      clock.advance(520);
      yield [{ type: "again", failure: busy, waitMs: 500, attempt: 2 }];
      clock.advance(530);
      yield [{ type: "text", text: "ok" }, used(2), { type: "stop", reason: "end" }];
    };
    const engine = testEngine({ model: scriptedModel([part]), clock });
    await engine.turn("go");
    const costs = engine.events.flatMap(({ kind, payload }) => (kind === "CostIncremented" ? [payload] : []));
    expect(costs.map(({ usage: { input }, elapsed_ms, abandoned }) => [input, elapsed_ms, abandoned])).toEqual([
      [1, 100, true],
      [2, 30, undefined],
    ]);
  });

  verifies(["L3", "L4"], "a terminal error thrown by a request link ends the turn with that failure", async () => {
    const budget = {
      name: "10-budget",
      run: async () => {
        throw new TurnFailure(failure("QuotaExceeded", { name: "x", detail: "empty" }));
      },
    };
    const engine = testEngine({ model: scriptedModel([says("never")]), requestLinks: [budget] });
    const result = await engine.turn("go");
    expect(result).toMatchObject({ outcome: "failed", failure: { reason: "QuotaExceeded" } });
    expect(engine.kinds()).toEqual(["TurnStarted", "Error", "TurnTiming", "TurnEnded"]);
  });

  verifies(["L3"], "links wrap the call from the outside in, in the order of their names", async () => {
    const seen: string[] = [];
    const link = (name: string) => ({
      name,
      run: async <I, C, O>(input: I, _context: C, next: (input: I) => Promise<O>): Promise<O> => {
        seen.push(`${name} in`);
        const output = await next(input);
        seen.push(`${name} out`);
        return output;
      },
    });
    const engine = testEngine({
      model: scriptedModel([calls(call("echo")), says("done")]),
      tools: [
        tool("echo", async () => {
          seen.push("run");
          return ok("");
        }),
      ],
      toolLinks: [link("96-b"), link("95-a")],
    });
    await engine.turn("go");
    expect(seen).toEqual(["95-a in", "96-b in", "run", "96-b out", "95-a out"]);
  });

  verifies(["L14"], "an exception in a hook is an Error event; the next turn works", async () => {
    let faulty = true;
    const hook: NamedHook = {
      name: "99-faulty",
      run: () => {
        if (faulty) throw new Error("planted");
      },
    };
    const engine = testEngine({ model: scriptedModel([says("fine")]), extraHooks: { assemble: [hook] } });
    const broken = await engine.turn("one");
    expect(broken).toMatchObject({ outcome: "failed", failure: { reason: "Internal" } });
    expect(broken.failure?.message).toContain("planted");
    faulty = false;
    expect(await engine.turn("two")).toMatchObject({ outcome: "answered", text: "fine" });
    expect(engine.kinds("TurnStarted", "TurnEnded")).toEqual(["TurnStarted", "TurnEnded", "TurnStarted", "TurnEnded"]);
  });

  verifies(
    ["L14"],
    "a provider that throws in the middle and a subscriber that throws end nothing but the turn",
    async () => {
      const half = async function* (): AsyncGenerator<ModelEvent[]> {
        yield [{ type: "text", text: "half" }];
        throw new Error("socket");
      };
      const engine = testEngine({ model: scriptedModel([half, says("whole")]) });
      engine.bus.subscribe(() => {
        throw new Error("bad subscriber");
      });
      expect(await engine.turn("one")).toMatchObject({ outcome: "failed", text: "half" });
      expect(engine.conversation.at(-1)).toMatchObject({ role: "assistant", interrupted: true });
      expect(await engine.turn("two")).toMatchObject({ outcome: "answered" });
    },
  );

  it("stops a chain of hooks that walks in circles", async () => {
    const engine = testEngine({
      model: scriptedModel([]),
      maxIterations: 2,
      extraHooks: { assemble: [{ name: "99-circle", run: () => ({ next: "assemble" }) }] },
    });
    expect(await engine.turn("go")).toMatchObject({ outcome: "failed", failure: { reason: "Internal" } });
  });

  verifies(["L12"], "says where the time went: hooks, links, provider and every tool", async () => {
    const engine = testEngine({ model: scriptedModel([calls(call("echo")), says("ok")]), tools: [echo] });
    await engine.turn("go");
    const timing = engine.events.find((event) => event.kind === "TurnTiming");
    expect(Object.keys(timing?.payload.parts ?? {})).toEqual(
      expect.arrayContaining([
        "assemble/10-messages",
        "request-link/90-log",
        "provider/first_byte",
        "provider/total",
        "tool/echo",
        "tool-link/20-permission",
      ]),
    );
  });
});

describe("cancellation", () => {
  verifies(["L9"], "keeps the partial text, marked, and ends with cancelled", async () => {
    const started = deferred();
    const part = async function* (_request: unknown, signal: AbortSignal): AsyncGenerator<ModelEvent[]> {
      yield [{ type: "text", text: "so far" }];
      started.resolve();
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    };
    const engine = testEngine({ model: scriptedModel([part, says("later")]) });
    const abort = new AbortNode();
    const running = engine.turn("go", abort);
    await started.promise;
    abort.abort({ by: "cli_test" });
    expect(await running).toMatchObject({ outcome: "cancelled", text: "so far" });
    expect(engine.conversation.at(-1)).toMatchObject({ interrupted: true, content: [text("so far")] });
    expect(engine.kinds("Cancelled", "TurnEnded")).toEqual(["Cancelled", "TurnEnded"]);
    expect(await engine.turn("again")).toMatchObject({ outcome: "answered", text: "later" });
  });

  verifies(["L9"], "does not wait for a provider that ignores its signal", async () => {
    const started = deferred();
    const deaf = async function* (): AsyncGenerator<ModelEvent[]> {
      started.resolve();
      await new Promise(() => {});
      yield [];
    };
    const engine = testEngine({ model: scriptedModel([deaf]) });
    const abort = new AbortNode();
    const running = engine.turn("go", abort);
    await started.promise;
    abort.abort({ by: "x" });
    expect((await running).outcome).toBe("cancelled");
  });

  verifies(["L9", "L5"], "every call of the message is answered when cancelled between two tools", async () => {
    const inside = deferred();
    const slow = tool(
      "slow",
      (_args, { signal }) =>
        new Promise((resolve) => {
          inside.resolve();
          signal.addEventListener("abort", () => resolve({ status: "cancelled", content: [text("stopped")] }));
        }),
      { concurrencySafe: false, mutating: true },
    );
    const engine = testEngine({
      model: scriptedModel([calls(call("slow"), call("slow"), call("slow"))]),
      tools: [slow],
    });
    const abort = new AbortNode();
    const running = engine.turn("go", abort);
    await inside.promise;
    abort.abort({ by: "x" });
    expect((await running).outcome).toBe("cancelled");
    const results = engine.events.filter((event) => event.kind === "ToolResult");
    expect(results.map((event) => event.payload.status)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(engine.conversation.at(-1)?.content).toHaveLength(3);
  });

  it("a limit that cancels is a separate outcome", async () => {
    const abort = new AbortNode();
    abort.abort({ by: "oxbow", failure: failure("Timeout", { timeout: "5s" }) });
    const engine = testEngine({ model: scriptedModel([says("never")]) });
    expect(await engine.turn("go", abort)).toMatchObject({ outcome: "limit", failure: { reason: "Timeout" } });
    expect(engine.kinds("TurnStarted", "TurnEnded")).toEqual(["TurnStarted", "TurnEnded"]);
  });
});
