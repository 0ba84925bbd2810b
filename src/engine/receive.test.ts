import { describe, expect, it } from "vitest";
import { originOf } from "../base/message-origin.js";
import { failure } from "../protocol/errors.js";
import { TurnFailure } from "./cancel.js";
import { Dispatch } from "./dispatch.js";
import type { EnginePorts, ModelEvent } from "./ports.js";
import { preparedAnswer } from "./prepared-answer.js";
import { receive } from "./receive.js";
import { done, type LooseTurn, looseTurn, sampleTool, tokens, toolsOf } from "./test-support/turns.js";

const said = (words: string): ModelEvent => ({ type: "text", text: words });
const thought = (words: string): ModelEvent => ({ type: "thinking", text: words });
const whole = (words: string): ModelEvent => ({ type: "block", block: { type: "text", text: words } });
const used = (input: number, output = 0): ModelEvent => ({ type: "usage", usage: tokens(input, output) });
const STOP: ModelEvent = { type: "stop", reason: "end" };
const BUSY = failure("Overloaded", { name: "p" });
const BROKEN = failure("Internal", { detail: "x" });
const OTHER = { provider: "q", family: "g", model: "n" };
type Batch = readonly ModelEvent[] | ((made: LooseTurn) => void);

async function read(batches: readonly Batch[], ports: Partial<EnginePorts> = {}) {
  const made = looseTurn({ tools: toolsOf(sampleTool("echo", async () => done("heard"))), ...ports });
  let isClosed = false;
  async function* stream() {
    try {
      for (const batch of batches) {
        if (typeof batch === "function") batch(made);
        else yield batch;
      }
    } finally {
      isClosed = true;
    }
  }
  const dispatch = new Dispatch(made.turn);
  const answer = await receive(made.turn, stream(), dispatch);
  return { ...made, answer, dispatch, isClosed };
}

describe("[L1 L11] the reading of an answer", () => {
  it("keeps the blocks as they came, and names the event where they began", async () => {
    const { answer, conversation, turn, of } = await read([
      [thought("hm"), { type: "block", block: { type: "thinking", text: "hm", provider: "f", opaque: 1 } }],
      [said("hi"), whole("hi")],
      [used(3, 2), STOP],
    ]);
    expect(answer).toEqual({ stop: "end", yielded: false, complete: true });
    expect(conversation).toEqual([
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "hm", provider: "f", opaque: 1 },
          { type: "text", text: "hi" },
        ],
      },
    ]);
    expect(conversation.map(originOf)).toEqual([1]);
    expect([turn.text, turn.truncated]).toEqual(["hi", false]);
    expect(of("ThinkingDelta")).toEqual([{ text: "hm" }, { text: "", provider: "f", opaque: 1 }]);
    expect(of("AnswerEnded")).toEqual([{ turn: turn.id, provider: "p", model: "m", stop: "end" }]);
    expect(of("CostIncremented")).toMatchObject([{ usage: { input: 3, output: 2 } }]);
  });

  it("publishes text that is held back before what follows it: a thought, a call, the end", async () => {
    const kinds = async (...events: readonly ModelEvent[]) => {
      // The first piece goes out at once; the second one waits for company.
      const { events: all } = await read([[said("a"), said("b"), ...events, used(1), STOP]]);
      const shown = all.map(({ kind, payload }) => (kind === "TextDelta" ? payload.text : kind));
      return shown.filter((each) => !/Dispatch|Timing|Cost/.test(each));
    };
    const call: ModelEvent = { type: "block", block: { type: "tool_call", tool: "echo", args: {} } };
    const opaque: ModelEvent = { type: "block", block: { type: "thinking", text: "", provider: "f", opaque: 1 } };
    expect(await kinds()).toEqual(["a", "b", "AnswerEnded"]);
    expect(await kinds(whole("ab"))).toEqual(["a", "b", "AnswerEnded"]);
    expect(await kinds(opaque)).toEqual(["a", "b", "ThinkingDelta", "AnswerEnded"]);
    expect((await kinds(call)).slice(0, 3)).toEqual(["a", "b", "ToolCallStarted"]);
  });

  it("reads calls that a person wants as an answer that costs nothing", async () => {
    const batches: Batch[] = [];
    for await (const batch of preparedAnswer([{ tool: "echo", args: { text: "x" } }])) batches.push(batch);
    const { answer, conversation, of } = await read(batches);
    expect(answer).toEqual({ stop: "tool_calls", yielded: false, complete: true });
    expect(conversation[0]?.content).toMatchObject([{ type: "tool_use", tool: "echo", args: { text: "x" } }]);
    expect(of("CostIncremented")).toEqual([]);
  });

  it("keeps what has no block of its own, thinking first", async () => {
    const { conversation, turn } = await read([
      [said("a"), thought("b"), said("c"), { type: "stop", reason: "length" }],
    ]);
    expect(conversation[0]?.content).toEqual([
      { type: "thinking", text: "b", provider: "f" },
      { type: "text", text: "ac" },
    ]);
    expect([turn.text, turn.truncated]).toEqual(["ac", true]);
  });

  it("pays for an answer without usage, and keeps no message without blocks", async () => {
    const { conversation, of } = await read([[STOP]]);
    expect(conversation).toEqual([]);
    expect(of("CostIncremented")).toHaveLength(1);
    expect(of("AnswerEnded")).toHaveLength(1);
  });

  it("does not pay for a call that was refused, and pays for one that ends early with a count", async () => {
    const refused = await read([[{ type: "failure", failure: BROKEN }]]);
    expect([refused.of("CostIncremented"), refused.answer.complete, refused.isClosed]).toEqual([[], false, true]);
    expect(refused.turn.failure).toBe(BROKEN);
    const broken = await read([[used(4), said("half"), { type: "failure", failure: BROKEN }], [said("never")]]);
    expect(broken.of("CostIncremented")).toMatchObject([{ usage: { input: 4 } }]);
    expect(broken.conversation).toMatchObject([{ interrupted: true, content: [{ text: "half" }] }]);
    expect(broken.of("AnswerEnded")).toMatchObject([{ interrupted: true }]);
  });

  it("turns what the stream throws into the failure of the turn", async () => {
    const throws = (error: unknown) => () => {
      throw error;
    };
    expect((await read([throws(new Error("lost"))])).turn.failure).toMatchObject({ reason: "Internal" });
    expect((await read([throws(new TurnFailure(BUSY))])).turn.failure).toBe(BUSY);
    const cancelled = await read([
      [said("so far")],
      ({ abort }) => {
        abort.abort({ by: "me" });
        throw new Error("aborted");
      },
    ]);
    expect([cancelled.turn.failure, cancelled.turn.text, cancelled.answer.complete]).toEqual([
      undefined,
      "so far",
      false,
    ]);
  });

  it("tells a stream that is left early, without waiting for it", async () => {
    for (const how of ["cancelled", "failed"] as const) {
      const made = looseTurn();
      const told: string[] = [];
      const next = async () => {
        if (how === "cancelled") setImmediate(() => made.abort.abort({ by: "me" }));
        return how === "cancelled"
          ? new Promise<never>(() => {})
          : { done: false as const, value: [{ type: "failure" as const, failure: BROKEN }] };
      };
      const back = async () => {
        told.push(how);
        throw new Error("it is closed already");
      };
      const stream = { [Symbol.asyncIterator]: () => ({ next, return: back }) };
      await receive(made.turn, stream as never, new Dispatch(made.turn));
      expect(told).toEqual([how]);
    }
  });

  it("counts what a broken answer cost, where the provider did not say", async () => {
    const counted: unknown[] = [];
    const countCutOff: EnginePorts["countCutOff"] = async ({ words, usage, by }) => {
      counted.push([words, usage.input, by.model]);
      return { usage: tokens(9, 9) };
    };
    const end: ModelEvent = { type: "failure", failure: BROKEN };
    const blocks: readonly ModelEvent[] = [
      whole("A"),
      { type: "block", block: { type: "opaque", provider: "p", data: 1 } as never },
      { type: "block", block: { type: "tool_call", tool: "echo", args: { x: 1 } } },
      { type: "block", block: { type: "tool_call", tool: "echo", args: {}, malformed: "{bad" } },
      thought("T"),
      said("B"),
      used(1),
    ];
    const { of } = await read([[...blocks, end]], { countCutOff });
    expect(counted.splice(0)).toEqual([['A{"x":1}{badTB', 1, "m"]]);
    expect(of("CostIncremented")).toMatchObject([{ usage: { input: 9, output: 9 } }]);
    await read([[end]], { countCutOff });
    await read([[said("fine"), STOP]], { countCutOff });
    expect(counted).toEqual([]);
    const failing = await read([[used(2), said("x"), end]], { countCutOff: () => Promise.reject(new Error("no")) });
    expect(failing.of("CostIncremented")).toMatchObject([{ usage: { input: 2 } }]);
  });

  it("measures the time to the first byte and the whole", async () => {
    const wait =
      (ms: number) =>
      ({ clock }: LooseTurn) =>
        clock.advance(ms);
    const { turn } = await read([wait(30), [said("a")], wait(50), [STOP]]);
    expect(turn.timing.report()).toEqual({ "provider/first_byte": 30, "provider/total": 80 });
  });
});

describe("[M9] several attempts at one answer", () => {
  it("name the wait before the next, as busy or as broken", async () => {
    const again = (cause: typeof BUSY): ModelEvent => ({ type: "again", failure: cause, waitMs: 500.4, attempt: 2 });
    const limited = failure("RateLimited", { name: "p", detail: "" });
    const { of, turn } = await read([[again(BUSY), again(limited), again(BROKEN), STOP]]);
    const next = { turn: turn.id, provider: "p", model: "m", wait_ms: 500, attempt: 2 };
    expect(of("RateLimited")).toEqual([
      { ...next, reason: "Overloaded", message: BUSY.message },
      { ...next, reason: "RateLimited", message: limited.message },
    ]);
    expect(of("Retrying")).toEqual([{ ...next, reason: "Internal", message: BROKEN.message }]);
    expect(turn.timing.report()["retry/wait"]).toBe(1501.2);
  });

  it("each have their cost; the stop of one is not that of the next", async () => {
    const again: ModelEvent = { type: "again", failure: BUSY, waitMs: 0, attempt: 1 };
    const to = { ...OTHER, route: "r" };
    const { of, turn, answer } = await read([
      [used(1), STOP, again],
      [used(2), { type: "failover", failure: BUSY, to }, { type: "answering", by: to }],
      [used(4), said("x")],
    ]);
    expect(
      of("CostIncremented").map(({ usage, model, abandoned, route }) => [usage.input, model, abandoned, route]),
    ).toEqual([
      [1, "m", true, undefined],
      [2, "m", true, undefined],
      [4, "n", undefined, "r"],
    ]);
    expect(of("FailedOver")).toEqual([
      {
        ...{ turn: turn.id, route: "r", reason: "Overloaded", message: BUSY.message },
        ...{ from: { provider: "p", model: "m" }, to: { provider: "q", model: "n" } },
      },
    ]);
    expect(answer.stop).toBeUndefined();
    expect(of("AnswerEnded")).toEqual([{ turn: turn.id, provider: "q", model: "n", route: "r" }]);
  });

  it("without usage leave no cost, and their time does not count for the next", async () => {
    const again: ModelEvent = { type: "again", failure: BUSY, waitMs: 0, attempt: 1 };
    const wait =
      (ms: number) =>
      ({ clock }: LooseTurn) =>
        clock.advance(ms);
    const { of } = await read([wait(70), [again], wait(5), [used(1), STOP]]);
    expect(of("CostIncremented").map(({ elapsed_ms }) => elapsed_ms)).toEqual([5]);
  });

  it("withdraw everything that was said, also a yield", async () => {
    const { of, conversation, answer, turn } = await read([
      [thought("t"), said("a"), whole("a"), { type: "block", block: { type: "yield" } }],
      [{ type: "retract", reason: "Overloaded" }, said("b"), STOP],
    ]);
    expect(of("AnswerRetracted")).toEqual([{ turn: turn.id, reason: "Overloaded" }]);
    expect(conversation[0]?.content).toEqual([{ type: "text", text: "b" }]);
    expect(answer.yielded).toBe(false);
    expect(of("AnswerEnded")[0]).not.toHaveProperty("blocks");
  });

  it("keep complete calls of a cut answer, which is marked and counts as complete", async () => {
    const { answer, conversation, of, turn } = await read([
      [
        { type: "block", block: { type: "tool_call", tool: "echo", args: {} } },
        { type: "cut", failure: BROKEN },
      ],
    ]);
    expect(answer.complete).toBe(true);
    expect(conversation).toMatchObject([{ interrupted: true }]);
    expect(of("Retrying")).toMatchObject([{ turn: turn.id, wait_ms: 0, attempt: 1 }]);
    expect(of("AnswerEnded")).toMatchObject([{ interrupted: true }]);
  });

  it("tell notices at once, and yield", async () => {
    const { of, answer, turn, conversation } = await read([
      [{ type: "notice", level: "warning", message: "slow" }, { type: "block", block: { type: "yield" } }, STOP],
    ]);
    expect(of("Notice")).toEqual([{ turn: turn.id, level: "warning", message: "slow" }]);
    expect(answer.yielded).toBe(true);
    expect(conversation[0]?.content).toEqual([{ type: "yield" }]);
  });
});

describe("[L4] an answer that is too long", () => {
  const call = (words: object): ModelEvent => ({
    type: "block",
    block: { type: "tool_call", tool: "echo", args: {}, ...words },
  });
  it.each([
    ["text", [said("x".repeat(11))], true],
    ["text that just fits", [said("x".repeat(10))], false],
    ["thinking", [thought("x".repeat(5)), said("x".repeat(6))], true],
    ["arguments", [call({ args: { a: "xxxxx" } })], true],
    ["arguments that just fit", [call({ args: { a: "xx" } })], false],
    ["broken arguments", [call({ malformed: "x".repeat(11) })], true],
    ["a new attempt", [said("x".repeat(9)), { type: "retract", reason: "Overloaded" }, said("x".repeat(10))], false],
  ] as const)("counts %s", async (_, events, isTooLong) => {
    const { turn, dispatch, of } = await read([[...events, STOP]], { maxAnswerCharacters: 10 });
    expect(turn.failure?.reason).toBe(isTooLong ? "AnswerTooLong" : undefined);
    if (isTooLong) expect([dispatch.size, of("ToolCallStarted")]).toEqual([0, []]);
  });
});

it("[L6] shows each block before a call in it runs", async () => {
  const order: string[] = [];
  const tools = toolsOf(
    sampleTool("echo", async () => {
      order.push("runs");
      return done();
    }),
  );
  await read([[{ type: "block", block: { type: "tool_call", tool: "echo", args: {} } }, STOP]], {
    tools,
    onBlock: ({ type }) => order.push(type),
  });
  expect(order).toEqual(["tool_use", "runs"]);
});
