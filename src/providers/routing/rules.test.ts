import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { CallFacts, Model, ModelRequest } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import { memberPlaces } from "./member-places.js";
import { readRoutes } from "./routes.js";
import { readRules, routedCall } from "./rules.js";

const said = (text: string, ...more: Message["content"][number][]): Message =>
  ({ role: "user", content: [{ type: "text", text }, ...more] }) as Message;
const IMAGE = { type: "image", media_type: "image/png", data: "" } as const;
const RESULT = { type: "tool_result", call: "call_1", tool: "read", is_error: false } as const;

interface Asked {
  readonly messages?: readonly Message[];
  readonly tools?: readonly string[];
  readonly facts?: CallFacts;
}

function call({ messages = [said("hi")], tools = [], facts }: Asked) {
  const request: ModelRequest = {
    ...{ model: "x", system: "", messages },
    tools: tools.map((name) => ({ name, description: "", inputSchema: {} })),
  };
  const model = { provider: "route", family: "route", model: "x" } as Model;
  return routedCall(request, { model, signal: new AbortController().signal, ...(facts && { facts }) });
}

function matches(when: object, asked: Asked): boolean {
  const read = readRules([{ model: "a:x", ...when }]);
  if ("problem" in read) throw new Error(read.problem);
  return read.rules[0]?.matches(call(asked)) === true;
}

describe("a condition", () => {
  const long = said("word ".repeat(2000));
  const cases: readonly (readonly [object, Asked, boolean])[] = [
    [{ tokens_over: 1000 }, {}, false],
    [{ tokens_over: 1000 }, { messages: [long] }, true],
    [{ tokens_under: 1000 }, {}, true],
    [{ images: true }, {}, false],
    [{ images: true }, { messages: [said("look", IMAGE), said("and?")] }, true],
    [{ images: false }, {}, true],
    [
      { images: true },
      { messages: [{ role: "user", content: [{ ...RESULT, content: [IMAGE] }] } as unknown as Message] },
      true,
    ],
    [{ tools: true }, { tools: ["read"] }, true],
    [{ tools: false }, { tools: ["read"] }, false],
    [{ tools: ["bash", "mcp__*"] }, { tools: ["read", "mcp__x__y"] }, true],
    [{ tools: "bash" }, { tools: ["read"] }, false],
    [{ turn_over: 3 }, { facts: { turn: 4 } }, true],
    [{ turn_under: 3 }, { facts: { turn: 3 } }, false],
    [{ subagent: true }, { facts: { turn: 1, agent: "explore" } }, true],
    [{ subagent: false }, { facts: { turn: 1 } }, true],
    [{ subagent: "exp*" }, { facts: { turn: 1, agent: "explore" } }, true],
    [{ subagent: ["review"] }, { facts: { turn: 1, agent: "explore" } }, false],
    [{ text: "*translate*" }, { messages: [said("Translate this")] }, true],
    [{ text: "*translate*" }, { messages: [said("translate"), said("thanks")] }, false],
    [{ text: "*translate*", turn_over: 3 }, { messages: [said("translate")], facts: { turn: 1 } }, false],
  ];
  for (const [when, asked, expected] of cases) {
    verifies(["M8"], `${JSON.stringify(when)} is ${expected} for ${JSON.stringify(asked).slice(0, 70)}`, () =>
      expect(matches(when, asked)).toBe(expected),
    );
  }
});

describe("rules", () => {
  it.each([
    ["x", /rules are tables/],
    [[{}], /rule 1: it needs model =/],
    [[{ model: "a:x" }], /rule 1: it needs a condition/],
    [[{ model: "a:x", images: "yes" }], /rule 1: images: expected true or false/],
    [
      [
        { model: "a:x", images: true },
        { model: "a:x", tokens: 3 },
      ],
      /rule 2: there is no condition "tokens"; there are/,
    ],
    [[{ model: "a:x", turn_over: -1 }], /turn_over: expected a whole number/],
    [[{ model: "a:x", text: [] }], /text: expected a pattern/],
  ])("%j is refused with a reason", (rules, words) => {
    expect(readRoutes({ r: { model: "a:x", rules } }, { routes: {}, disabled: [] }).problems).toEqual([
      expect.stringMatching(words),
    ]);
  });

  verifies(["M8"], "choose in their order, and failover continues with the route's own models", () => {
    const read = readRules([
      { name: "pictures", images: true, model: "b:eyes" },
      { chain: ["c:big", "a:one"], tokens_over: 1000 },
    ]);
    const { all, choose, deciding } = memberPlaces(["a:one", "a:two"], "rules" in read ? read.rules : []);
    expect(all).toEqual(["a:one", "a:two", "b:eyes", "c:big"]);
    const chosen = (asked: Asked) => {
      const { request, context } = call(asked);
      const { rule = "", members = [] } = choose?.(request, context) ?? {};
      return [rule, ...members.map((place) => all[place])];
    };
    expect(chosen({})).toEqual(["default", "a:one", "a:two"]);
    expect(chosen({ messages: [said("x", IMAGE)] })).toEqual(["pictures", "b:eyes", "a:one", "a:two"]);
    expect(chosen({ messages: [said("word ".repeat(2000))] })).toEqual(["rule 2", "c:big", "a:one", "a:two"]);
    expect(deciding?.map((place) => all[place])).toEqual(["c:big", "a:one"]);
  });
});
