import { describe, expect, it } from "vitest";
import { originOf, withOrigin } from "../base/message-origin.js";
import { plainText, type ToolUseBlock } from "../protocol/content.js";
import { failure } from "../protocol/errors.js";
import type { CallId } from "../protocol/ids.js";
import { TurnFailure } from "./cancel.js";
import { Dispatch } from "./dispatch.js";
import type { EnginePorts, Tool, ToolLink } from "./ports.js";
import { done, looseTurn, sampleTool, toolsOf } from "./test-support/turns.js";

const ticks = async () => {
  for (let tick = 0; tick < 20; tick++) await Promise.resolve();
};
const use = (name: string, more: Partial<ToolUseBlock> = {}): ToolUseBlock => ({
  ...{ type: "tool_use", call: `call_${name}` as CallId, tool: name.replace(/\d+$/, ""), args: {} },
  ...more,
});

function dispatchOf(tools: readonly Tool[], ports: Partial<EnginePorts> = {}) {
  const made = looseTurn({ tools: toolsOf(...tools), ...ports });
  return { ...made, dispatch: new Dispatch(made.turn) };
}

/** A tool that ends when the test says so. */
function held(name: string, traits: Partial<Tool> = {}) {
  const ends: (() => void)[] = [];
  const run = () => new Promise<ReturnType<typeof done>>((resolve) => ends.push(() => resolve(done(name))));
  return { tool: sampleTool(name, run, traits), ends };
}

describe("[L6] a call starts while the answer streams", () => {
  const read = held("read").tool;
  it.each([
    ["when it only reads", use("read"), {}, 1],
    ["not when it changes something", use("write"), {}, 0],
    ["not beside others when it must be alone", use("alone"), {}, 0],
    ["not when its arguments are broken", use("read", { malformed: "{" }), {}, 0],
    ["not when the user might be asked", use("read"), { mayStartEarly: () => false }, 0],
    ["not when calls run one after the other", use("read"), { toolExecution: "sequential" as const }, 0],
    ["not when there is no such tool", use("nothing"), {}, 0],
  ] as const)("%s", (_, block, ports, announced) => {
    const tools = [read, held("write", { mutating: true }).tool, held("alone", { concurrencySafe: false }).tool];
    const { dispatch } = dispatchOf(tools, ports);
    dispatch.offer(block);
    expect([dispatch.announced, dispatch.size, dispatch.open.length]).toEqual([announced, 1, 1 - announced]);
  });

  it("only at the beginning, and not in a turn that was cancelled", () => {
    const { dispatch } = dispatchOf([read, held("write", { mutating: true }).tool]);
    for (const name of ["read1", "read2", "write3", "read4"]) dispatch.offer(use(name));
    expect([dispatch.announced, dispatch.open.map(({ call }) => call)]).toEqual([2, ["call_write3", "call_read4"]]);
    const cancelled = dispatchOf([read]);
    cancelled.abort.abort({ by: "me" });
    cancelled.dispatch.offer(use("read"));
    expect(cancelled.dispatch.announced).toBe(0);
  });
});

describe("[L5] calls of one message", () => {
  it("run together while all are safe, and alone otherwise", async () => {
    const [safe, alone] = [held("safe"), held("alone", { concurrencySafe: false })];
    const { dispatch, of } = dispatchOf([safe.tool, alone.tool], { mayStartEarly: () => false });
    for (const name of ["safe1", "safe2", "alone3", "alone4", "safe5"]) dispatch.offer(use(name));
    const finished = dispatch.finish();
    const running: number[] = [];
    const started = () => of("ToolCallStarted").length;
    for (const each of [safe, safe, alone, alone, safe]) {
      await ticks();
      running.push(started());
      each.ends.shift()?.();
    }
    expect(running).toEqual([2, 2, 3, 4, 5]);
    expect((await finished).results.map(({ call, is_error }) => [call, is_error])).toEqual(
      ["safe1", "safe2", "alone3", "alone4", "safe5"].map((name) => [`call_${name}`, false]),
    );
  });

  it("report in the order of the model, whichever ends first", async () => {
    const safe = held("safe");
    const { dispatch, of } = dispatchOf([safe.tool]);
    dispatch.offer(use("safe1"));
    dispatch.offer(use("safe2"));
    await ticks();
    safe.ends[1]?.();
    await ticks();
    expect(of("ToolResult")).toEqual([]);
    safe.ends[0]?.();
    await dispatch.finish();
    expect(of("ToolResult").map(({ call }) => call)).toEqual(["call_safe1", "call_safe2"]);
  });

  it("carry details and who decided only where there are some", async () => {
    const rich = sampleTool("rich", async () => ({ ...done("x"), details: { a: 1 }, decidedBy: "a rule" }));
    const { dispatch, of } = dispatchOf([rich, sampleTool("plain", async () => done("y"))]);
    dispatch.offer(use("rich"));
    dispatch.offer(use("plain"));
    await dispatch.finish();
    expect(of("ToolResult")).toEqual([
      { call: "call_rich", tool: "rich", ...done("x"), details: { a: 1 }, decided_by: "a rule" },
      { call: "call_plain", tool: "plain", ...done("y") },
    ]);
  });

  it("show progress until they have their result", async () => {
    let progress = (_text: string) => {};
    const tool = sampleTool("slow", async (_args, context) => {
      progress = context.progress;
      progress("half");
      return done();
    });
    const { dispatch, of } = dispatchOf([tool]);
    dispatch.offer(use("slow"));
    await dispatch.finish();
    progress("late");
    expect(of("ToolCallProgress")).toEqual([{ call: "call_slow", text: "half" }]);
  });

  it("share what is unchanged until one may change something", async () => {
    const seen: unknown[] = [];
    const note: Tool["run"] = async (_args, { unchanged }) => {
      seen.push(unchanged);
      return done();
    };
    const both = { mutating: true, onlyReads: ({ look }: { look?: unknown }) => look === true };
    const { dispatch } = dispatchOf([
      sampleTool("read", note),
      sampleTool("both", note, both),
      sampleTool("write", note, { mutating: true }),
    ]);
    for (const block of [use("read1"), use("both2", { args: { look: true } }), use("read3")]) dispatch.offer(block);
    dispatch.offer(use("both4"));
    dispatch.offer(use("write5"));
    await dispatch.finish();
    expect(seen.map((each) => seen.indexOf(each))).toEqual([0, 0, 0, 3, 4]);
  });
});

describe("[L15] a call that a hook answers or changes", () => {
  it("does not run when it is answered, once and only while it is open", async () => {
    const ran: unknown[] = [];
    const note = sampleTool("note", async (args) => {
      ran.push(args);
      return done("ran");
    });
    const early = sampleTool("early", async () => done("early"));
    const { dispatch } = dispatchOf([note, early], { mayStartEarly: ({ tool }) => tool === "early" });
    for (const name of ["early1", "note2", "note3"]) dispatch.offer(use(name));
    dispatch.give("call_note2", { status: "denied", content: [] });
    dispatch.give("call_note2", done("again"));
    dispatch.give("call_early1", done("given"));
    dispatch.give("call_nothing", done("given"));
    expect(dispatch.open.map(({ call }) => call)).toEqual(["call_note3"]);
    dispatch.change("call_note2", { a: 2 });
    dispatch.change("call_note3", { a: 3 });
    const { results } = await dispatch.finish();
    expect(ran).toEqual([{ a: 3 }]);
    expect(results.map(({ content, is_error }) => [plainText(content), is_error])).toEqual([
      ["early", false],
      ["", true],
      ["ran", false],
    ]);
  });

  it("is in the newest answer of the conversation as it ran, which keeps its origin", () => {
    const { dispatch, conversation } = dispatchOf([sampleTool("note", async () => done())], {
      mayStartEarly: () => false,
    });
    const [mine, other] = [use("note1"), use("note2")];
    const old = { role: "assistant" as const, content: [mine] };
    const newest = withOrigin(
      { role: "assistant" as const, content: [{ type: "text" as const, text: "x" }, mine, other] },
      7,
    );
    conversation.push(old, newest, { role: "user", content: [] });
    for (const block of [mine, other]) dispatch.offer(block);
    dispatch.change("call_note1", { a: 1 });
    expect(conversation[0]).toBe(old);
    expect(conversation[1]?.content).toEqual([{ type: "text", text: "x" }, { ...mine, args: { a: 1 } }, other]);
    expect(conversation.map(originOf)).toEqual([undefined, 7, undefined]);
    expect(dispatch.open[0]?.args).toEqual({ a: 1 });
    const bare = dispatchOf([sampleTool("note", async () => done())], { mayStartEarly: () => false });
    bare.dispatch.offer(mine);
    bare.dispatch.change("call_note1", { a: 1 });
    expect(bare.conversation).toEqual([]);
  });
});

describe("[L8 L9] a call that does not run to its end", () => {
  const text = (result: { readonly content: Parameters<typeof plainText>[0] } | undefined) =>
    plainText(result?.content ?? []);

  it("says which tools there are", async () => {
    const one = dispatchOf([sampleTool("a", async () => done()), sampleTool("b", async () => done())]);
    one.dispatch.offer(use("nothing"));
    expect(text((await one.dispatch.finish()).results[0])).toBe('There is no tool "nothing". Available: a, b.');
    const none = dispatchOf([]);
    none.dispatch.offer(use("nothing"));
    expect(text((await none.dispatch.finish()).results[0])).toContain("Available: none.");
  });

  it("quotes broken arguments, in the middle of long ones no more", async () => {
    const cases = [
      ["x".repeat(300), "x".repeat(300)],
      [`${"a".repeat(200)}${"b".repeat(30)}${"c".repeat(80)}`, `${"a".repeat(200)} … ${"c".repeat(80)}`],
    ];
    for (const [malformed = "", shown = ""] of cases) {
      const { dispatch } = dispatchOf([sampleTool("a", async () => done())]);
      dispatch.offer(use("a", { malformed }));
      const words = text((await dispatch.finish()).results[0]);
      expect(words).toBe(
        `The arguments were not one complete JSON object, so the call was not run. Send the whole call again. Received: ${shown}`,
      );
    }
    const { dispatch } = dispatchOf([sampleTool("a", async () => done())]);
    dispatch.offer(use("a", { malformed: "[".repeat(5000) }));
    expect(text((await dispatch.finish()).results[0])).toContain("levels deep");
  });

  it("is cancelled when it does not stop in time, and at once when it does", async () => {
    const deaf = held("deaf");
    const one = dispatchOf([deaf.tool]);
    one.dispatch.offer(use("deaf"));
    const finished = one.dispatch.finish();
    one.abort.abort({ by: "me" });
    one.clock.advance(1299);
    await ticks();
    expect(one.of("ToolResult")).toEqual([]);
    one.clock.advance(1);
    expect(text((await finished).results[0])).toBe("Cancelled; it did not stop in time.");
    const heeding = sampleTool("heeding", (_args, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("x"))));
    });
    const two = dispatchOf([heeding, held("later", { concurrencySafe: false }).tool]);
    two.dispatch.offer(use("heeding"));
    two.dispatch.offer(use("later"));
    const both = two.dispatch.finish();
    await ticks();
    two.abort.abort({ by: "me" });
    expect((await both).results.map(text)).toEqual(["Cancelled before it finished.", "Cancelled before it started."]);
    expect(two.of("ToolResult").map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    expect((await both).failure).toBeUndefined();
  });

  it("ends when dispatch is abandoned, without an end of the turn", async () => {
    const deaf = held("deaf");
    const { dispatch, clock, turn } = dispatchOf([deaf.tool]);
    dispatch.offer(use("deaf1"));
    dispatch.abandon();
    dispatch.offer(use("deaf2"));
    const finished = dispatch.finish();
    clock.advance(1300);
    expect((await finished).results.map(text)).toEqual([
      "Cancelled; it did not stop in time.",
      "Cancelled before it started.",
    ]);
    expect(turn.signal.aborted).toBe(false);
  });

  it("has the words of what it threw; only the first failure of a link ends the turn", async () => {
    const [first, second] = ["1", "2"].map((detail) => failure("Internal", { detail }));
    const link: ToolLink = {
      name: "x",
      run: async ({ args }, _context, next) => {
        if (args.fails === 1 && first !== undefined) throw new TurnFailure(first);
        if (args.fails === 2 && second !== undefined) throw new TurnFailure(second);
        return next({ call: "call_x" as CallId, tool: "a", args });
      },
    };
    const throwing = sampleTool("a", ({ what }) => Promise.reject(what === "error" ? new Error("words") : "bare"));
    const { dispatch, of } = dispatchOf([throwing], { toolLinks: [link] });
    const all = [{ what: "error" }, { what: "text" }, { fails: 1 }, { fails: 2 }];
    for (const [at, args] of all.entries()) dispatch.offer(use(`a${at}`, { args }));
    const { results, failure: cause } = await dispatch.finish();
    expect(results.slice(0, 2).map(text)).toEqual(["words", "bare"]);
    expect(of("ToolResult").every(({ status }) => status === "error")).toBe(true);
    expect(cause).toBe(first);
  });

  it("is skipped after one that did not succeed, if calls run one after the other", async () => {
    const a = sampleTool("a", async ({ status }) => ({ ...done("x"), status: status as "ok" }));
    const { dispatch, of } = dispatchOf([a, sampleTool("b", async () => done())], { toolExecution: "sequential" });
    for (const [at, status] of ["ok", "denied", "ok"].entries()) dispatch.offer(use(`a${at}`, { args: { status } }));
    dispatch.offer(use("b3"));
    const { results } = await dispatch.finish();
    expect(of("ToolResult").map(({ status }) => status)).toEqual(["ok", "denied", "skipped", "skipped"]);
    expect(results.slice(2).map(text)).toEqual(Array(2).fill("Not run: the call to a before it did not succeed."));
  });
});

describe("[L4] the last call of an answer that reached the output limit", () => {
  const results = async (turn: { truncated: boolean; cutCalls: number; outputLimit?: number }) => {
    const ran: string[] = [];
    const echo = sampleTool("echo", async () => done(`${ran.push("echo")}`), { mutating: true });
    const made = dispatchOf([echo]);
    for (const name of ["echo1", "echo2"]) made.dispatch.offer(use(name));
    Object.assign(made.turn, turn);
    const { results: blocks } = await made.dispatch.finish();
    return { ran: ran.length, texts: blocks.map(({ content, is_error }) => (is_error ? plainText(content) : "ok")) };
  };

  it("is not run, and says why, with the limit where it is known", async () => {
    const cut = { truncated: true, cutCalls: 1, outputLimit: 4_096 };
    const why = (limit: string) =>
      `Your answer reached the output limit${limit}, so this call was cut and not run. Write the file in parts.`;
    expect(await results(cut)).toEqual({ ran: 1, texts: ["ok", why(" of 4,096 tokens")] });
    const { outputLimit: _, ...unknown } = cut;
    expect((await results(unknown)).texts).toEqual(["ok", why("")]);
    expect((await results({ ...cut, truncated: false })).ran).toBe(2);
    expect((await results({ ...cut, cutCalls: 0 })).ran).toBe(2);
  });
});

it("calls listen to their turn no longer when all have ended", async () => {
  const signals: AbortSignal[] = [];
  const tool = sampleTool("echo", async (_args, { signal }) => {
    signals.push(signal);
    return done();
  });
  const { dispatch, abort } = dispatchOf([tool]);
  dispatch.offer(use("echo"));
  await dispatch.finish();
  abort.abort({ by: "me" });
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
});
