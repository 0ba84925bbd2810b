/** A model that sends the same call again and again, whatever the result says: no fault leads to more than three runs of it. */
import { describe, expect, it } from "vitest";
import type { ModelEvent, ToolLink, ToolOutcome } from "../../src/engine/ports.js";
import { ownText, plainText } from "../../src/protocol/content.js";
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

const CHANGES = { concurrencySafe: false, mutating: true } as const;
const NOTE = "Same call, same result, 3 times. Change something or tell the user.";

function resultsOf({ events }: TestEngine): readonly string[] {
  return events.flatMap((event) => (event.kind === "ToolResult" ? [plainText(event.payload.content)] : []));
}

/** The same answer for as long as the harness asks. */
function stubborn(event: ModelEvent, stop: "tool_calls" | "length" = "tool_calls") {
  const part: Part = async function* () {
    yield [event, { type: "stop", reason: stop }];
  };
  return scriptedModel(Array.from({ length: 50 }, () => part));
}

const failing = (words: () => string): (() => Promise<ToolOutcome>) => {
  return async () => ({ status: "error", content: [ownText(words())] });
};

describe("a fault", () => {
  let count = 0;
  const denying: ToolLink = {
    name: "20-permission",
    run: async () => ({ status: "denied", content: [ownText("Denied: no.")] }),
  };
  const cut = { type: "block", block: { type: "tool_call", tool: "act", args: {}, malformed: '{"a":' } } as const;
  const throwing = async () => {
    throw new Error("connection refused");
  };
  it.each([
    ["a cut call", { event: cut, stop: "length" }],
    ["half a call", { event: cut }],
    ["a denied call", { links: [denying] }],
    ["a failure", { run: failing(() => "no such file") }],
    ["a failure that tells the time", { run: failing(() => `failed after ${++count} ms`) }],
    ["a stale file", { run: failing(() => "a.txt has changed since it was read.") }],
    ["a dead server", { run: throwing }],
    ["a huge failure", { run: failing(() => "x".repeat(2_000_000)) }],
    ["an unknown tool", { event: call("nothing") }],
    ["arguments that do not fit", { event: call("act", { a: {} }) }],
  ] as const)("%s is tried at most three times", async (_name, fault: Partial<Fault>) => {
    const { event = call("act"), stop, links = [], run = throwing } = fault;
    const inputSchema = { type: "object", properties: { a: { type: "string" } } };
    const engine = testEngine({
      model: stubborn(event, stop),
      tools: [tool("act", run, { ...CHANGES, inputSchema })],
      toolLinks: [...links],
    });
    const { outcome, failure } = await engine.turn("go");
    expect(outcome).toBe("failed");
    expect(["RepeatedCall", "AnswersCut"]).toContain(failure?.reason);
    const results = resultsOf(engine).filter((text) => !text.startsWith("Not run: the same call had"));
    expect(results.length).toBeLessThanOrEqual(3);
    if (failure?.reason === "RepeatedCall")
      expect(results.map((text) => text.includes(NOTE))).toEqual([false, false, true]);
  });
});

interface Fault {
  readonly event: ModelEvent;
  readonly stop: "length";
  readonly links: readonly ToolLink[];
  readonly run: () => Promise<ToolOutcome>;
}

describe("a repeated call", () => {
  verifies(["L21"], "counts anew once something has changed, or the result is another one", async () => {
    let result = "one";
    const test = tool("test", async () => ({ status: "error", content: [ownText(result)] }));
    const edit = tool("edit", async () => ok("edited"), CHANGES);
    const turnTo = tool("turn_to", async ({ word }) => {
      result = String(word);
      return ok("");
    });
    const [again, change] = [calls(call("test")), calls(call("edit"))];
    const other = (word: string) => calls(call("turn_to", { word }));
    const model = scriptedModel([again, again, change, again, again, other("two"), again, again, says("Done.")]);
    const engine = testEngine({ model, tools: [test, edit, turnTo] });
    expect(await engine.turn("go")).toMatchObject({ outcome: "answered" });
    expect(resultsOf(engine).join()).not.toContain("Same call");
  });

  verifies(["L21"], "that reads the same is named from the third time on, and stopped after the tenth", async () => {
    let reading = 0;
    const read = { ...tool("read", async () => ok("the same")), set: "read" } as const;
    const counter = { ...tool("counter", async () => ok(`line ${++reading}`)), set: "read" } as const;
    const all = Array.from({ length: 12 }, () => calls(call("counter"), call("read")));
    const engine = testEngine({ model: scriptedModel([...all, says("Done.")]), tools: [read, counter] });
    const { failure } = await engine.turn("go");
    expect(failure?.reason).toBe("RepeatedCall");
    const texts = resultsOf(engine);
    const same = texts.filter((text) => text.startsWith("the same")).map((text) => text.includes("Same call"));
    expect(same).toEqual([false, false, ...Array.from({ length: 8 }, () => true)]);
    expect(texts.filter((text) => text.startsWith("line")).join()).not.toContain("Same call");
  });

  verifies(["L21"], "may succeed any number of times: a model polls", async () => {
    const look = { ...tool("look", async () => ok("waiting")), set: "command" } as const;
    const model = scriptedModel([...Array.from({ length: 15 }, () => calls(call("look"))), says("Done.")]);
    const engine = testEngine({ model, tools: [look] });
    expect(await engine.turn("go")).toMatchObject({ outcome: "answered" });
  });
});

describe("an empty answer", () => {
  const nothing = says(" ");
  const told = (model: ReturnType<typeof scriptedModel>) =>
    model.requests.map(({ messages }) => JSON.stringify(messages.at(-1)).includes("Your last answer was empty"));
  const warnings = ({ events }: TestEngine) => events.filter(({ kind }) => kind === "Notice").length;

  verifies(["L21"], "is no end: Oxbow tells the model, and the conversation does not keep that", async () => {
    const look = tool("look", async () => ok("seen"));
    const model = scriptedModel([calls(call("look")), nothing, calls(call("look")), says("Done.")]);
    const engine = testEngine({ model, tools: [look] });
    expect(await engine.turn("go")).toMatchObject({ outcome: "answered", text: "Done." });
    expect(told(model)).toEqual([false, false, true, false]);
    expect(JSON.stringify(model.requests.at(-1))).not.toContain("Your last answer was empty");
    expect(warnings(engine)).toBe(0);
  });

  verifies(["L21"], "that comes twice ends the turn, and Oxbow tells the user", async () => {
    const model = scriptedModel([nothing, nothing]);
    const engine = testEngine({ model });
    expect(await engine.turn("go")).toMatchObject({ outcome: "answered", text: " " });
    expect(told(model)).toEqual([false, true]);
    expect(warnings(engine)).toBe(1);
  });
});
