import { describe, expect, it } from "vitest";
import { call, calls, ok, scriptedModel, testEngine, tool } from "../../test/support/engine.js";
import { verifies } from "../../test/verifies.js";
import { Budget, type CallBudget } from "../costs/budget.js";
import type { Model, ModelEvent, ModelRequest, ModelStream, RequestContext } from "../engine/ports.js";
import { text } from "../protocol/content.js";
import { failure } from "../protocol/errors.js";
import type { Usage } from "../protocol/usage.js";
import { ASSUMED, type ModelFacts } from "../providers/catalogue/facts.js";
import { payForCall } from "./pay-for-call.js";
import { price as createPrice } from "./request-links.js";
import type { ChainServices, CostTracker } from "./services.js";

/** A dollar for a million tokens, whichever. */
const FACTS: ModelFacts = { ...ASSUMED, output: 5000, price: { input: 1, output: 1 }, source: "profile" };

function keeper(more: Partial<CostTracker> = {}): CostTracker {
  return {
    facts: async () => FACTS,
    callBudget: () => undefined,
    countsDollars: false,
    adviceFor: (scope) => `the setting of ${scope}`,
    priceAdvice: () => "Give it",
    windowNews: async () => undefined,
    ...more,
  };
}

const usage = (input: number, output: number): Usage => ({
  input,
  output,
  cache_read: 0,
  cache_write: 0,
  reasoning: 0,
});
const request: ModelRequest = {
  model: "m",
  system: "",
  messages: [{ role: "user", content: [text("hello")] }],
  tools: [],
};

function context(model: Partial<Model> = {}): RequestContext {
  const none = async function* () {};
  return {
    model: { provider: "p", family: "f", model: "m", stream: none, ...model },
    signal: new AbortController().signal,
  };
}

async function* streamOf(
  ...batches: readonly (readonly ModelEvent[])[]
): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  yield* batches;
}

async function pay(
  budget: CallBudget,
  stream: () => ModelStream,
  options: { costs?: CostTracker; context?: RequestContext } = {},
) {
  const asked: ModelRequest[] = [];
  const next = async (inner: ModelRequest) => {
    asked.push(inner);
    return stream();
  };
  const { costs = keeper(), context: place = context() } = options;
  const events: ModelEvent[] = [];
  for await (const batch of await payForCall(request, place, { costs, budget, next })) events.push(...batch);
  return { asked, events };
}

describe("a call within a budget", () => {
  verifies(["M14"], "says how long its answer may be, and pays what the provider counted", async () => {
    const budget = new Budget({ scope: "this run", limit: { tokens: 1000 } });
    const { asked } = await pay(budget, () =>
      streamOf([
        { type: "usage", usage: usage(100, 300) },
        { type: "stop", reason: "end" },
      ]),
    );
    expect(asked[0]?.maxOutputTokens).toBeGreaterThan(900);
    expect(asked[0]?.maxOutputTokens).toBeLessThan(1000);
    expect(budget.spent).toEqual({ usd: 0.0004, tokens: 400 });
    expect(budget.held).toEqual({ usd: 0, tokens: 0 });
  });

  it("pays for what came when the provider counts nothing, and nothing when it refused", async () => {
    const budget = new Budget({ scope: "this run", limit: { tokens: 10_000 } });
    const refused = failure("Overloaded", { name: "p", detail: "busy" });
    await pay(budget, () => streamOf([{ type: "failure", failure: refused }]));
    expect(budget.spent.tokens).toBe(0);
    await pay(budget, () =>
      streamOf([
        { type: "text", text: "one two three four" },
        { type: "stop", reason: "end" },
      ]),
    );
    expect(budget.spent.tokens).toBeGreaterThanOrEqual(5);
    const before = budget.spent.tokens;
    const broken = async function* (): AsyncGenerator<readonly ModelEvent[]> {
      yield [{ type: "text", text: "one two" }];
      throw new Error("broken");
    };
    await expect(pay(budget, broken)).rejects.toThrow("broken");
    expect(budget.spent.tokens).toBeGreaterThan(before);
    expect(budget.held.tokens).toBe(0);
  });

  it("pays for what came at the moment of a cancel, although the stream does not end", async () => {
    const budget = new Budget({ scope: "this run", limit: { tokens: 10_000 } });
    const abort = new AbortController();
    const place = { ...context(), signal: abort.signal };
    const next = async () =>
      (async function* (): AsyncGenerator<readonly ModelEvent[]> {
        yield [
          { type: "usage", usage: usage(100, 1) },
          { type: "text", text: "word ".repeat(40) },
        ];
        await new Promise(() => {});
      })();
    const stream = await payForCall(request, place, { costs: keeper(), budget, next });
    await stream[Symbol.asyncIterator]().next();
    expect(budget.held.tokens).toBeGreaterThan(1000);
    abort.abort();
    expect(budget.held.tokens).toBe(0);
    expect(budget.spent.tokens).toBeGreaterThan(130);
    expect(budget.spent.tokens).toBeLessThan(200);
  });

  it("learns from the provider's count how far its estimate is off", async () => {
    const place = context();
    const budget = new Budget({ scope: "this run", limit: { tokens: 3000 } });
    const answer = () =>
      streamOf([{ type: "usage", usage: usage(1000, 10) }, { type: "stop", reason: "end" } as const]);
    await pay(budget, answer, { context: place });
    const { asked } = await pay(budget, answer, { context: place });
    expect(asked[0]?.maxOutputTokens).toBeLessThan(1000);
    await expect(pay(budget, answer, { context: place })).rejects.toThrow(
      /budget of this run, 3,000 tokens: 2,020 tokens of it is spent and the next model call needs 1,\d+ tokens or more\. Raise it with the setting of this run\./,
    );
  });

  it("asks a provider that counts before it gives up", async () => {
    const budget = new Budget({ scope: "this run", limit: { tokens: 280 } });
    const answer = () => streamOf([{ type: "stop", reason: "end" }] as const);
    await expect(pay(budget, answer)).rejects.toThrow("Stopped by the budget");
    const { asked } = await pay(budget, answer, { context: context({ countTokens: async () => 5 }) });
    expect(asked).toHaveLength(1);
    await expect(pay(budget, answer, { context: context({ countTokens: async () => undefined }) })).rejects.toThrow(
      "Stopped",
    );
  });

  verifies(["M14"], "parallel calls wait for each other rather than overspend", async () => {
    const budget = new Budget({ scope: "this run", limit: { tokens: 1500 } });
    let running = 0;
    let most = 0;
    const answer = async function* (): AsyncGenerator<readonly ModelEvent[]> {
      running++;
      most = Math.max(most, running);
      yield [{ type: "usage", usage: usage(30, 270) }];
      await Promise.resolve();
      running--;
      yield [{ type: "stop", reason: "end" }];
    };
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => pay(budget.child("a subagent"), answer)));
    const done = results.filter(({ status }) => status === "fulfilled").length;
    expect(done).toBe(5);
    expect(most).toBe(1);
    expect(budget.spent.tokens).toBe(1500);
  });
});

describe("prices on a stream", () => {
  const price = (costs: CostTracker) => createPrice({ costs } as unknown as ChainServices);

  async function priced(stream: ModelStream, costs: CostTracker) {
    const batches: (readonly ModelEvent[])[] = [];
    for await (const batch of await price(costs)(request, context(), async () => stream)) batches.push(batch);
    return batches;
  }

  it("are on the last count before the end, also when they were not known in time", async () => {
    let answerFacts: (facts: ModelFacts) => void = () => {};
    const facts = new Promise<ModelFacts>((resolve) => {
      answerFacts = resolve;
    });
    const stream = (async function* (): AsyncGenerator<readonly ModelEvent[]> {
      yield [{ type: "usage", usage: usage(1_000_000, 1) }];
      yield [{ type: "usage", usage: usage(1_000_000, 1_000_000) }];
      answerFacts(FACTS);
      yield [{ type: "stop", reason: "end" }];
    })();
    const events = (await priced(stream, keeper({ facts: () => facts }))).flat();
    const last = events.findLast((event) => event.type === "usage");
    expect(last).toMatchObject({ usage: { output: 1_000_000 }, cost: { usd: 2 } });
    expect(events.at(-1)).toEqual({ type: "stop", reason: "end" });
  });

  it("are missing from a count that came with the end if they are unknown", async () => {
    const { price: _price, ...unknown } = FACTS;
    const stream = streamOf([
      { type: "usage", usage: usage(1, 1) },
      { type: "stop", reason: "end" },
    ]);
    const [batch] = await priced(stream, keeper({ facts: async () => unknown }));
    expect(batch?.[0]).toEqual({ type: "usage", usage: usage(1, 1) });
  });

  verifies(
    ["M8", "M14"],
    "are those of the model that answers, and the budget pays for each that was called",
    async () => {
      const dear: ModelFacts = { ...FACTS, price: { input: 10, output: 10 } };
      const costs = keeper({ facts: async ({ provider }) => (provider === "dear" ? dear : FACTS) });
      const by = (provider: string) => ({ provider, family: provider, model: "m", route: "main" });
      const busy = failure("Overloaded", { name: "dear", detail: "busy" });
      const stream = () =>
        streamOf(
          [{ type: "answering", by: by("dear") }],
          [{ type: "usage", usage: usage(100_000, 0) }],
          [
            { type: "failover", failure: busy, to: by("cheap") },
            { type: "answering", by: by("cheap") },
          ],
          [
            { type: "usage", usage: usage(100_000, 100_000) },
            { type: "stop", reason: "end" },
          ],
        );
      const found = (await priced(stream(), costs))
        .flat()
        .flatMap((event) => (event.type === "usage" ? [event.cost?.usd] : []));
      expect(found.at(-1)).toBe(0.2);
      expect(found).toContain(1);
      const budget = new Budget({ scope: "this run", limit: { usd: 5 } });
      await pay(budget, async function* () {
        yield* await price(costs)(request, context(), async () => stream());
      });
      expect(budget.spent).toEqual({ usd: 1.2, tokens: 300_000 });
    },
  );
});

describe("a turn that reaches a budget", () => {
  verifies(["M14", "L4"], "ends as a limit, with the results so far, and without an Error event", async () => {
    const model = scriptedModel([calls({ type: "usage", usage: usage(900, 50) }, call("look"))]);
    const budget = new Budget({ scope: "this run", limit: { tokens: 1500 } });
    const engine = testEngine({
      model,
      tools: [tool("look", async () => ok("seen"))],
      costs: keeper({ callBudget: async () => budget } as unknown as CostTracker),
    });
    const ended = await engine.turn("go");
    expect(ended).toMatchObject({ outcome: "limit", failure: { reason: "BudgetReached" }, iterations: 2 });
    expect(engine.kinds("Error")).toEqual([]);
    expect(engine.kinds("ToolResult", "TurnEnded")).toEqual(["ToolResult", "TurnEnded"]);
  });
});
