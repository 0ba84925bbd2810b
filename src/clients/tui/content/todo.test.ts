import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { plainTheme } from "../themes.js";
import { openTodos, pinnedTodos } from "./todo.js";

const todos = ["done", "done", "in_progress", "pending", "pending", "pending"].map((status, index) => ({
  text: `step ${index + 1} of a plan with long words`,
  status,
}));

describe("the pinned list", () => {
  const list = openTodos({ todos }) ?? [];

  verifies(["U2"], "shows what is open in any width, and the newest thing done", () => {
    expect(pinnedTodos(list, { width: 40, theme: plainTheme, rows: 5, key: "alt+t" })).toEqual([
      "Todos: 2 of 6 done · alt+t hides them",
      "☑ step 2 of a plan with long words",
      "▸ step 3 of a plan with long words",
      "☐ step 4 of a plan with long words",
      "… 2 more",
    ]);
    const whole = pinnedTodos(list, { width: 24, theme: plainTheme, rows: 8, key: undefined });
    expect([whole.length, whole[1]]).toEqual([7, "☑ step 1 of a plan with…"]);
  });

  verifies(["U2"], "is gone when everything is done", () => {
    expect(openTodos({ todos: todos.map((todo) => ({ ...todo, status: "done" })) })).toBeUndefined();
  });
});
