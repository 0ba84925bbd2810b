import { describe, expect } from "vitest";
import { AbortNode } from "../../src/base/abort-tree.js";
import { ManualClock } from "../../src/base/clock.js";
import type { ModelEvent } from "../../src/engine/ports.js";
import { text } from "../../src/protocol/content.js";
import { type BuiltInReason, type Failure, failure } from "../../src/protocol/errors.js";
import type { Usage } from "../../src/protocol/usage.js";
import { ConversationBuilder } from "../../src/sessions/conversation.js";
import {
  call,
  calls,
  ok,
  type Part,
  says,
  scriptedModel,
  type TestEngine,
  testEngine,
  tool,
} from "../support/engine.js";
import { verifies } from "../verifies.js";

const USAGE: Usage = { input: 10, output: 2, cache_read: 0, cache_write: 0, reasoning: 0 };

function fails(reason: BuiltInReason, before: readonly ModelEvent[] = [], traits: Partial<Failure> = {}): Part {
  const problem = { ...failure(reason, { name: "scripted" }), retryable: true, ...traits };
  return async function* () {
    if (before.length > 0) yield before;
    yield [{ type: "failure", failure: problem }];
  };
}

function engineOf(parts: readonly Part[], more: Partial<Parameters<typeof testEngine>[0]> = {}) {
  const clock = new ManualClock();
  const model = scriptedModel(parts);
  const retry = { clock, random: () => 1, totalWaitMs: 60_000 };
  return { clock, model, engine: testEngine({ model, clock, retry, ...more }) };
}

/** Lets everything happen that does not wait for time. */
async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Moves the time as far as each wait needs. */
async function finish<T>(turn: Promise<T>, clock: ManualClock): Promise<T> {
  let done = false;
  void turn.then(() => {
    done = true;
  });
  while (!done) {
    await settled();
    clock.advance(1000);
  }
  return turn;
}

function expectSameAsStored({ events, conversation }: TestEngine): void {
  const builder = new ConversationBuilder();
  for (const event of events) builder.take(event);
  expect(builder.end().messages).toEqual(conversation);
}

const of = (engine: TestEngine, kind: string) =>
  engine.events.filter((event) => event.kind === kind).map(({ payload }) => payload);

describe("a model call that fails for a while", () => {
  verifies(["M9"], "is retried after the time that the provider gives, and an event reports it", async () => {
    const { clock, model, engine } = engineOf([fails("RateLimited", [], { retry_after_ms: 12_000 }), says("hello")]);
    const turn = engine.turn("go");
    await settled();
    expect(of(engine, "RateLimited")).toMatchObject([
      { provider: "scripted", model: "test", reason: "RateLimited", wait_ms: 12_250, attempt: 1 },
    ]);
    clock.advance(12_000);
    await settled();
    expect(model.requests).toHaveLength(1);
    clock.advance(250);
    expect(await turn).toMatchObject({ outcome: "answered", text: "hello", iterations: 1 });
    expect(model.requests[1]).toEqual(model.requests[0]);
    expect(engine.kinds("Error")).toEqual([]);
    expectSameAsStored(engine);
  });

  verifies(["M9", "L9"], "is cancelled at once while it waits", async () => {
    const { clock, model, engine } = engineOf([fails("Overloaded"), says("never")]);
    const abort = new AbortNode();
    const turn = engine.turn("go", abort);
    await settled();
    abort.abort({ by: "cli_x" });
    expect((await turn).outcome).toBe("cancelled");
    await settled();
    expect(clock.pending).toBe(0);
    expect(model.requests).toHaveLength(1);
  });

  verifies(["M9", "O5"], "fails in the end with a text that promises nothing", async () => {
    const parts = Array.from({ length: 7 }, () => fails("RateLimited"));
    const { clock, engine } = engineOf(parts);
    const result = await finish(engine.turn("go"), clock);
    expect(result.failure).toMatchObject({ reason: "RateLimited", retryable: true });
    expect(result.failure?.message).toMatch(
      /^scripted is rate-limiting requests \(\d attempts\)\. Try again later, or choose/,
    );
    const waits = engine.events.flatMap((event) => (event.kind === "RateLimited" ? [event.payload.wait_ms] : []));
    expect(waits.reduce((sum, wait) => sum + wait)).toBeLessThanOrEqual(60_000);
    const { engine: other } = engineOf([fails("RateLimited", [], { retry_after_ms: 7_200_000 })]);
    expect((await other.turn("go")).failure?.message).toContain("Try again in 2 h");
  });

  verifies(["M9"], "tells the cost of every attempt, and each only once", async () => {
    const paid: ModelEvent = { type: "usage", usage: USAGE };
    const { clock, engine } = engineOf([
      fails("StreamInterrupted", [paid, { type: "text", text: "hel" }]),
      async function* () {
        yield [
          paid,
          { type: "text", text: "hello" },
          { type: "block", block: text("hello") },
          { type: "stop", reason: "end" },
        ];
      },
    ]);
    const result = await finish(engine.turn("go"), clock);
    expect(of(engine, "CostIncremented")).toMatchObject([{ usage: USAGE, abandoned: true }, { usage: USAGE }]);
    expect(result.usage).toMatchObject({ input: 20, output: 4 });
    expect(of(engine, "TextDelta")).toEqual([{ text: "hel" }, { text: "lo" }]);
    expect(engine.kinds("Retrying", "RateLimited")).toEqual(["Retrying"]);
    expectSameAsStored(engine);
  });

  verifies(
    ["M9", "L11"],
    "takes back what another attempt says otherwise; live, stored and sent are the same",
    async () => {
      const { clock, model, engine } = engineOf([
        fails("StreamInterrupted", [{ type: "text", text: "It is A" }]),
        says("It is B."),
        says("next"),
      ]);
      expect(await finish(engine.turn("go"), clock)).toMatchObject({ outcome: "answered", text: "It is B." });
      expect(engine.kinds("TextDelta", "Retrying", "AnswerRetracted")).toEqual([
        "TextDelta",
        "Retrying",
        "AnswerRetracted",
        "TextDelta",
      ]);
      await finish(engine.turn("more"), clock);
      expect(JSON.stringify(model.requests[2]?.messages)).not.toContain("It is A");
      expectSameAsStored(engine);
    },
  );

  verifies(
    ["M9", "S3"],
    "after a whole call ends there: the call is run once and the turn continues with it",
    async () => {
      const ran: unknown[] = [];
      const look = tool("look", async (args) => {
        ran.push(args);
        return ok("seen");
      });
      const change = tool("change", look.run, { mutating: true, concurrencySafe: false });
      const { engine, model } = engineOf(
        [
          fails("StreamInterrupted", [
            { type: "text", text: "Looking" },
            call("look", { n: 1 }),
            call("change", { n: 2 }),
          ]),
          says("done"),
        ],
        { tools: [look, change] },
      );
      expect(await engine.turn("go")).toMatchObject({ outcome: "answered", text: "done", iterations: 2 });
      expect(ran).toEqual([{ n: 1 }, { n: 2 }]);
      expect(engine.conversation[1]).toMatchObject({ role: "assistant", interrupted: true });
      expect(model.requests[1]?.messages).toHaveLength(3);
      expectSameAsStored(engine);
    },
  );

  verifies(["M9"], "keeps what had arrived when it is given up", async () => {
    const half: ModelEvent = { type: "text", text: "half" };
    const { clock, engine } = engineOf(Array.from({ length: 5 }, () => fails("StreamInterrupted", [half])));
    const result = await finish(engine.turn("go"), clock);
    expect(result).toMatchObject({ outcome: "failed", text: "half", failure: { attempts: 5 } });
    expect(of(engine, "TextDelta")).toEqual([{ text: "half" }]);
    expectSameAsStored(engine);
  });
});

describe("a conversation that is too long for its model", () => {
  const tooLong = fails("ContextTooLong", [], { retryable: false });

  verifies(["M9", "X7"], "is made shorter once, where something can do that", async () => {
    let asked = 0;
    const compaction = { isDue: () => false, shorten: async () => ++asked > 0 };
    const { model, engine } = engineOf([tooLong, says("short now")], { compaction });
    expect(await engine.turn("go")).toMatchObject({ outcome: "answered", text: "short now" });
    expect(model.requests).toHaveLength(2);
    const again = engineOf([tooLong, tooLong], { compaction });
    const failed = await again.engine.turn("go");
    expect(failed).toMatchObject({ failure: { reason: "ContextTooLong" } });
    expect(failed.failure?.message).toContain("Oxbow shortened it, but it is still too long.");
    expect(asked).toBe(2);
  });

  verifies(["M9"], "fails clearly where nothing can", async () => {
    const { engine } = engineOf([tooLong]);
    const { failure: cause } = await engine.turn("go");
    expect(cause?.message).toContain("/clear");
    expect(engine.kinds("Retrying", "RateLimited")).toEqual([]);
  });
});

verifies(["M9", "L6"], "an answer without failures passes unchanged", async () => {
  const { engine } = engineOf([calls(call("look")), says("fine")], { tools: [tool("look", async () => ok("x"))] });
  expect(await engine.turn("go")).toMatchObject({ outcome: "answered", text: "fine", iterations: 2 });
});
