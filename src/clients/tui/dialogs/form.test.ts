import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { Key } from "../terminal/terminal.js";
import { plainTheme } from "../themes.js";
import { type PermissionState, permissionDialog } from "./permission.js";

const QUESTION = {
  ...{ call: "call_1", tool: "mcp shop", args: {}, summary: "answer the MCP server 'shop'", reason: "It asks: What?" },
  once_only: true,
  form: [
    { name: "who", kind: "text", required: true, title: "Name" },
    { name: "count", kind: "integer", default: 3 },
    { name: "sure", kind: "yes_no" },
    { name: "size", kind: "one", choices: [choice("s"), choice("m")] },
    { name: "extras", kind: "some", choices: [choice("milk"), choice("sugar")], default: ["sugar"] },
  ],
} as unknown as EventPayloads["PermissionRequested"];

function choice(value: string) {
  return { value, title: value.toUpperCase() };
}

const dialog = permissionDialog(QUESTION);
const key = (id: string): Key => ({ id, data: [...id].length === 1 ? id : id === "space" ? " " : "" }) as Key;

function press(...ids: readonly string[]) {
  let state: PermissionState = dialog.first;
  for (const id of ids) {
    const step = dialog.onKey(state, key(id));
    if ("done" in step) return step.done;
    state = step.state;
  }
  return state;
}

const shown = (state: PermissionState, columns = 60) =>
  dialog.view(state, { columns, rows: 20 }, plainTheme).lines.join("\n");

describe("a form in the terminal", () => {
  verifies(["E6", "U1"], "is filled in by keys and sent as JSON", () => {
    const answer = press(
      ...["A", "n", "x", "backspace", "n", "enter", "backspace", "5", "down", "y", "down", "right", "right", "down"],
      ...["space", "right", "space", "enter", "enter"],
    );
    expect(answer).toEqual({
      decision: "allow_once",
      message: JSON.stringify({ who: "Ann", count: 5, sure: true, size: "m", extras: ["milk"] }),
    });
  });

  verifies(["E6", "U1"], "asks for what is missing, and can be declined or dismissed", () => {
    const state = press("down", "down", "down", "down", "down", "enter") as PermissionState;
    expect(state.form).toMatchObject({ row: 0, problem: "Name needs a value." });
    expect(shown(state)).toContain("> Name*:");
    const wrong = press("A", "down", "x", "down", "down", "down", "down", "enter") as PermissionState;
    expect(wrong.form?.problem).toBe("count must be a whole number.");
    expect(press("ctrl+d")).toEqual({ decision: "deny" });
    expect(press("A", "escape")).toEqual({ decision: "deny", message: "cancel" });
    const open = press("y", "n", "v", "q", "space", "1") as PermissionState;
    expect(open.form?.values.who, "letters are text here, not answers").toBe("ynvq 1");
  });

  verifies(["E6", "U1"], "is shown within the width, with its defaults and the server's words behind a bar", () => {
    const text = shown(press("down", "down", "down", "down") as PermissionState);
    expect(text).toContain("│ It asks: What?");
    expect(text).toContain("  count: 3");
    expect(text).toContain("> extras: ›[ ] MILK  [x] SUGAR");
    for (const columns of [20, 40])
      for (const line of shown(dialog.first, columns).split("\n"))
        expect([...line].length).toBeLessThanOrEqual(columns);
  });
});
