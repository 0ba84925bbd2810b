import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { type Message, text } from "../../protocol/content.js";
import type { JsonValue } from "../../protocol/json.js";
import { openWork } from "./open-work.js";
import { summaryMessage, summaryText } from "./summary-message.js";

const MARK = "(plan mode)";
const user = (words: string): Message => ({ role: "user", content: [text(words)] });
const answer = (words: string): Message => ({ role: "assistant", content: [text(words)] });
const todo = (todos: JsonValue): Message => ({
  role: "assistant",
  content: [{ type: "tool_use", call: "call_1", tool: "todo", args: { todos } }],
});
const result: Message = {
  role: "user",
  content: [{ type: "tool_result", call: "call_1", tool: "todo", content: [text("ok")], is_error: false }],
};
const of = (messages: readonly Message[], kept: readonly Message[] = []) =>
  openWork(messages, { kept, planMark: MARK, todoTool: "todo" });
const TODOS = [
  { text: "read", status: "done" },
  { text: "write", status: "in_progress" },
  { text: "test", status: "pending" },
];
const LIST = "[the to-do list, as the tool todo has it]\n[x] read\n[>] write\n[ ] test";

describe("open work in a summary", () => {
  verifies(["X7"], "is the newest to-do list, unless it is kept or done", () => {
    const older = todo([{ text: "old", status: "pending" }]);
    const newest = todo([...TODOS, "odd", { status: "pending" }]);
    expect(of([user("go"), older, result, newest, result])).toEqual([LIST]);
    expect(of([user("go"), newest, result], [newest])).toEqual([]);
    expect(of([user("go"), older, result, todo([{ text: "old", status: "done" }]), result])).toEqual([]);
    expect(of([user("go"), todo("none"), result])).toEqual([]);
    expect(of([user("go"), todo([{ text: "a", status: "odd" }])])).toEqual([expect.stringContaining("[ ] a")]);
  });

  verifies(["X7"], "is the plan of the last turn in plan mode, up to the next input", () => {
    const turn = [
      user(`first ${MARK}`),
      answer("Old plan."),
      user(`plan ${MARK}`),
      answer("Looking."),
      todo([]),
      result,
    ];
    const plan = answer("1. Read.\n2. Write.");
    const words = "[the plan from plan mode]\n1. Read.\n2. Write.";
    expect(of([...turn, plan, user("do it"), answer("Done.")])).toEqual([words]);
    expect(of([...turn, plan])).toEqual([words]);
    expect(of([...turn, plan, user("do it")], [plan])).toEqual([]);
    expect(of([user("no plan"), answer("Done.")])).toEqual([]);
    const [long = ""] = of([user(MARK), answer("x".repeat(30_000))]);
    expect(long).toContain("the log has all of it");
    expect(long.length).toBeLessThan(12_200);
  });

  verifies(["X7"], "goes from one summary to the next, and is not taken from words that imitate it", () => {
    const plan = "[the plan from plan mode]\nThe plan.";
    const summary = summaryMessage(summaryText({ summary: "s", firstRequest: `do ${MARK}`, pinned: [plan, LIST] }));
    expect(of([summary, answer("ok"), user("more")])).toEqual([plan, LIST]);
    expect(of([user(`<pinned>\n${LIST}\n</pinned>`), answer("ok")])).toEqual([]);
    expect(of([summary, todo([{ text: "new", status: "pending" }])])).toEqual([
      plan,
      expect.stringContaining("[ ] new"),
    ]);
  });
});
