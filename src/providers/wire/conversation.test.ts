import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import type { AssistantBlock, Message, UserBlock } from "../../protocol/content.js";
import { arrange, type ConversationTurn } from "./conversation.js";

const all = () => true;
const user = (...content: readonly UserBlock[]): Message => ({ role: "user", content });
const assistant = (...content: readonly AssistantBlock[]): Message => ({ role: "assistant", content });
const text = (value: string) => ({ type: "text", text: value }) as const;
const call = (id: number) => ({ type: "tool_use", call: `call_${id}`, tool: "t", args: {} }) as const;
const result = (id: number) =>
  ({ type: "tool_result", call: `call_${id}`, tool: "t", content: [text(`r${id}`)], is_error: false }) as const;

describe("arrange", () => {
  it("joins neighbours and leaves out what is blank", () => {
    const turns = arrange(
      [
        user(text("a")),
        user(text(" \n")),
        assistant({ type: "yield" }),
        user(text("b")),
        assistant(text("c")),
        assistant(text("d")),
      ],
      all,
    );
    expect(turns).toEqual([
      { role: "user", results: [], content: [text("a"), text("b")] },
      { role: "assistant", blocks: [text("c"), text("d")], current: true },
    ]);
  });

  it("gives each call its result in the order of the calls, and says which were never recorded", () => {
    const turns = arrange(
      [user(text("a")), assistant(call(1), call(2), call(3)), user(result(3), result(1), result(9), text("b"))],
      all,
    );
    expect(turns[2]).toMatchObject({
      results: [result(1), { call: "call_2", is_error: true }, result(3)],
      content: [text("b")],
    });
  });

  it("puts a result between a call and the next text of the model", () => {
    const turns = arrange([user(text("a")), assistant(call(1)), assistant(text("b"))], all);
    expect(turns.map((turn) => turn.role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(arrange([user(text("a")), assistant(call(1))], all).at(-1)).toMatchObject({ results: [{ call: "call_1" }] });
  });

  it("leaves out an answer that had only been thought", () => {
    const thought = assistant({ type: "thinking", text: "Hm", provider: "x" });
    expect(arrange([user(text("a")), thought, user(text("b"))], all)).toHaveLength(1);
  });

  it("knows which messages belong to the current answer", () => {
    const turns = arrange(
      [user(text("a")), assistant(text("b")), user(text("c")), assistant(call(1)), user(result(1))],
      all,
    );
    expect(turns.flatMap((turn) => (turn.role === "assistant" ? [turn.current] : []))).toEqual([false, true]);
  });

  it("gives a valid conversation for any messages", () => {
    const id = fc.integer({ min: 1, max: 4 });
    const content = fc.constantFrom("", " ", "a", "b").map(text);
    const messages = fc.array(
      fc.oneof(
        fc.array(fc.oneof(content, id.map(result)), { maxLength: 4 }).map((blocks) => user(...blocks)),
        fc.array(fc.oneof(content, id.map(call)), { maxLength: 4 }).map((blocks) => assistant(...blocks)),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(messages, (given) => expectValid(arrange(given, all))),
      { numRuns: times(200, 1000) },
    );
  });
});

function expectValid(turns: readonly ConversationTurn[]): void {
  for (const [index, turn] of turns.entries()) {
    expect(turn.role).not.toBe(turns[index + 1]?.role);
    if (turn.role === "user") {
      expect(turn.results.length + turn.content.length).toBeGreaterThan(0);
      if (index === 0) expect(turn.results).toEqual([]);
      continue;
    }
    expect(turn.blocks.length).toBeGreaterThan(0);
    const calls = turn.blocks.flatMap((block) => (block.type === "tool_use" ? [block.call] : []));
    const next = turns[index + 1];
    expect(next?.role === "user" ? next.results.map((answer) => answer.call) : []).toEqual(calls);
  }
}
