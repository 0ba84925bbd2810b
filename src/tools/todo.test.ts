import { describe, expect, it } from "vitest";
import { plainText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { createTodoTool } from "./todo.js";

const run = (args: JsonObject) => createTodoTool().run(args, { signal: new AbortController().signal, progress() {} });

describe("[T1] todo", () => {
  it("gives the list back, for the model and for the screen", async () => {
    const outcome = await run({
      todos: [
        { text: "find the\ncause", status: "done" },
        { text: "fix it", status: "in_progress" },
        { text: "test it", status: "pending" },
      ],
    });
    expect(outcome.status).toBe("ok");
    expect(plainText(outcome.content)).toBe("[x] find the cause\n[>] fix it\n[ ] test it");
    expect(outcome.details).toMatchObject({ done: 1, total: 3, todos: [{ status: "done" }, {}, {}] });
  });

  it("takes an empty list", async () => {
    expect(plainText((await run({ todos: [] })).content)).toBe("The list is empty.");
  });

  it.each([
    [{ todos: "x" }, "must be a list"],
    [{ todos: [{ text: "a" }] }, "Item 1: status must be one of pending, in_progress, done."],
    [{ todos: [{ text: "a", status: "toString" }] }, "status must be one of"],
    [
      {
        todos: [
          { text: "a", status: "done" },
          { text: " ", status: "done" },
        ],
      },
      "Item 2 has no text.",
    ],
    [{ todos: Array(101).fill({ text: "a", status: "done" }) }, "at most 100 are allowed"],
    [{ todos: [{ text: "a".repeat(501), status: "done" }] }, "longer than 500"],
  ])("says what is wrong with a list", async (args, message) => {
    const outcome = await run(args as JsonObject);
    expect(outcome.status).toBe("error");
    expect(plainText(outcome.content)).toContain(message);
  });

  it("is always there and never in the way", () => {
    expect(createTodoTool()).toMatchObject({ set: "read", mutating: false, concurrencySafe: true });
  });
});
