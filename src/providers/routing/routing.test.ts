import { describe, expect } from "vitest";
import { call, says, testEngine } from "../../../test/support/engine.js";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import type { Model, ModelEvent, ModelStream } from "../../engine/ports.js";
import { type BuiltInReason, failure } from "../../protocol/errors.js";
import { ConversationBuilder } from "../../sessions/conversation.js";
import { readMention } from "./mention.js";
import { readOwnRoutes, readRoutes } from "./routes.js";
import { createRoutingModel } from "./routing-model.js";

function member(name: string, ...parts: readonly (() => ModelStream)[]): Model & { calls: number } {
  const [provider = "", model = ""] = name.split(":");
  return {
    provider,
    family: provider,
    model,
    calls: 0,
    stream(request) {
      expect(request.model).toBe(model);
      const part = parts[Math.min(this.calls++, parts.length - 1)];
      return (part as () => ModelStream)();
    },
  };
}

const fails = (reason: BuiltInReason, ...before: readonly ModelEvent[]) =>
  async function* (): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
    yield [...before, { type: "failure", failure: failure(reason, { name: "x", detail: "d" }) }];
  };
const answers = (words: string) => () => says(words)({} as never, new AbortController().signal);

function routed(...members: readonly Model[]) {
  const clock = new ManualClock();
  const model = createRoutingModel({ route: "main", clock, members: members.map((each) => async () => each) });
  return { clock, engine: testEngine({ model, clock }) };
}

const costs = (engine: ReturnType<typeof testEngine>) =>
  engine.events.flatMap(({ kind, payload }) =>
    kind === "CostIncremented" ? [`${payload.provider}:${payload.model}`] : [],
  );

describe("a model made of several", () => {
  verifies(
    ["M8"],
    "the next model answers when one cannot; the events report that and the cost of each model",
    async () => {
      const usage: ModelEvent = {
        type: "usage",
        usage: { input: 5, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 },
      };
      const first = member("a:one", fails("Overloaded", usage));
      const { engine } = routed(first, member("b:two", answers("hello")));
      expect(await engine.turn("go")).toMatchObject({ outcome: "answered", text: "hello", usage: { input: 5 } });
      const over = engine.events.find(({ kind }) => kind === "FailedOver");
      expect(over?.payload).toMatchObject({
        route: "main",
        from: { provider: "a", model: "one" },
        to: { provider: "b", model: "two" },
        reason: "Overloaded",
        message: "a is overloaded.",
      });
      expect(costs(engine)).toEqual(["a:one", "b:two"]);
      expect(engine.events.find(({ kind }) => kind === "CostIncremented")?.payload).toMatchObject({ abandoned: true });
    },
  );

  verifies(["M8"], "a failed model is skipped for a minute, then tried again", async () => {
    const first = member("a:one", fails("QuotaExceeded"), answers("back"));
    const { engine, clock } = routed(first, member("b:two", answers("stand-in")));
    await engine.turn("1");
    expect(await engine.turn("2")).toMatchObject({ text: "stand-in" });
    expect(first.calls).toBe(1);
    clock.advance(60_000);
    expect(await engine.turn("3")).toMatchObject({ text: "back" });
  });

  verifies(
    ["M8", "M9"],
    "the text of an interrupted first model is withdrawn; live and stored are the same",
    async () => {
      const half: ModelEvent = { type: "text", text: "I was about to" };
      const { engine } = routed(member("a:one", fails("StreamInterrupted", half)), member("b:two", answers("Hello.")));
      expect(await engine.turn("go")).toMatchObject({ text: "Hello." });
      expect(engine.kinds("TextDelta", "FailedOver", "AnswerRetracted")).toEqual([
        "TextDelta",
        "FailedOver",
        "AnswerRetracted",
        "TextDelta",
      ]);
      const builder = new ConversationBuilder();
      for (const event of engine.events) builder.take(event);
      expect(builder.end().messages).toEqual(engine.conversation);
      expect(engine.conversation).toHaveLength(2);
    },
  );

  verifies(["M8"], "no other model is tried after a call of the first was shown", async () => {
    const second = member("b:two", answers("never"));
    const { engine } = routed(member("a:one", fails("Overloaded", call("look", {}))), second);
    expect(await engine.turn("go")).toMatchObject({ outcome: "failed", failure: { reason: "Overloaded" } });
    expect(second.calls).toBe(0);
    expect(engine.kinds("FailedOver", "AnswerRetracted")).toEqual([]);
  });

  verifies(
    ["M8"],
    "no other model is tried if the conversation itself is the cause, or when all have failed",
    async () => {
      const second = member("b:two", answers("never"));
      const { engine } = routed(member("a:one", fails("ContentRefused")), second);
      expect((await engine.turn("go")).failure?.reason).toBe("ContentRefused");
      expect(second.calls).toBe(0);
      const all = routed(member("a:one", fails("Overloaded")), member("b:two", fails("AuthFailed")));
      expect((await all.engine.turn("go")).failure?.reason).toBe("AuthFailed");
    },
  );
});

describe("@name in an input", () => {
  verifies(["M8"], "names a route only at the beginning, and can be escaped", () => {
    expect(readMention("@fast do it\nnow")).toEqual({ kind: "named", name: "fast", text: "do it\nnow" });
    expect(readMention("  @a.b-c x")).toMatchObject({ name: "a.b-c", text: "x" });
    expect(readMention("@fast")).toMatchObject({ name: "fast", text: "" });
    expect(readMention("\\@fast do it")).toEqual({ kind: "none", text: "@fast do it" });
    for (const plain of ["mail me@fast now", "@ fast", "@src/a.ts explain", "@fast, please", ""]) {
      expect(readMention(plain), plain).toEqual({ kind: "none", text: plain });
    }
  });

  verifies(["M8"], "routes come from the profile and from the person, whose own stand first", () => {
    const profile = {
      fast: { model: "a:one" },
      main: { chain: ["a:one", "b:two"] },
      off: { model: "c:x", enabled: false },
    };
    const own = readOwnRoutes({ routes: { fast: ["z:mine"], bad: "no" }, disabled: ["main"] });
    const { routes, problems } = readRoutes({ ...profile, odd: {}, "a b": { model: "x" } }, own);
    expect(routes).toEqual([
      { name: "fast", models: ["z:mine"], rules: [], enabled: true, origin: "own" },
      { name: "main", models: ["a:one", "b:two"], rules: [], enabled: false, origin: "profile" },
      { name: "off", models: ["c:x"], rules: [], enabled: false, origin: "profile" },
    ]);
    expect(problems).toHaveLength(2);
    expect(readRoutes("nonsense", readOwnRoutes(undefined)).problems).toHaveLength(1);
  });
});
