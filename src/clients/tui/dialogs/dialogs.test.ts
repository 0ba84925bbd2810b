import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { textWidth } from "../../../base/text-width.js";
import type { Question } from "../state.js";
import { plainTheme } from "../themes.js";
import { permissionDialog } from "./permission.js";
import { DIALOGS, key, models, QUESTIONS, sidebar, stateAfter } from "./samples.testkit.js";

const WIDTHS = [40, 80, 120, 200];
const ROWS = 24;

describe("the dialogs", () => {
  it.each(WIDTHS)("show what they showed before in %i columns", async (columns) => {
    const screens = Object.entries(DIALOGS).map(
      ([name, lines]) => `=== ${name}\n${lines({ columns, rows: ROWS }).join("\n")}\n`,
    );
    await expect(screens.join("\n")).toMatchFileSnapshot(`goldens/dialogs-${columns}.txt`);
  });

  it.each([20, 40, 61, 80, 120, 200, 300])("have no line wider than %i columns", (columns) => {
    for (const [name, lines] of Object.entries(DIALOGS)) {
      for (const rows of [4, ROWS]) {
        const wide = lines({ columns, rows }).filter((line) => textWidth(line) > columns);
        expect(wide, name).toEqual([]);
      }
    }
  });

  it("let no control character of others through", () => {
    for (const [name, lines] of Object.entries(DIALOGS)) {
      const text = lines({ columns: 80, rows: ROWS }).join("\n");
      expect(text, name).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }
  });

  verifies(["U1"], "let the sidebar resume a session and revoke a rule with one key, and hide empty sections", () => {
    const dialog = sidebar();
    expect(dialog.onKey(dialog.first, key("enter"))).toEqual({ done: { kind: "resume", session: "sess_0" } });
    expect(dialog.onKey(dialog.first, key("x"))).toHaveProperty("state");
    const rule = stateAfter(dialog, ["down", "down", "down"]);
    expect(dialog.onKey(rule, key("x"))).toEqual({ done: { kind: "revoke", rule: 1 } });
    expect(dialog.onKey(rule, key("alt+s"))).toEqual({ done: undefined });
    expect(dialog.view(rule, { columns: 80, rows: ROWS }, plainTheme).lines.join("\n")).not.toContain("Skills");
  });

  verifies(["U2", "M15"], "let the picker of models change how much the model thinks", () => {
    const dialog = models();
    expect(dialog.onKey(stateAfter(dialog, ["right", "right"]), key("enter"))).toEqual({
      done: { model: "anthropic:claude-sonnet-4-5", effort: "high" },
    });
    expect(dialog.onKey(stateAfter(dialog, ["left", "left", "t", "i", "n", "y"]), key("enter"))).toEqual({
      done: { model: "ollama:tiny", effort: "high" },
    });
    expect(dialog.onKey(dialog.first, key("escape"))).toEqual({ done: undefined });
  });

  verifies(["P2"], "offer nothing but this one call where the engine keeps no rule", () => {
    const dialog = permissionDialog(QUESTIONS.guarded as Question);
    for (const id of ["s", "t", "a", "3", "4"]) expect(dialog.onKey(dialog.first, key(id))).toHaveProperty("state");
    expect(dialog.onKey(dialog.first, key("y"))).toEqual({ done: { decision: "allow_once" } });
    const why = stateAfter(dialog, ["n"]);
    expect(dialog.onKey(why, key("enter"))).toEqual({ done: { decision: "deny" } });
  });

  verifies(["P2"], "take letters, digits and arrows; Enter alone is no answer", () => {
    const dialog = permissionDialog(QUESTIONS.command as Question);
    const answer = (id: string) => dialog.onKey(dialog.first, key(id));
    expect(answer("s")).toEqual({ done: { decision: "allow_pattern" } });
    expect(answer("t")).toEqual({ done: { decision: "allow_tool" } });
    expect(answer("1")).toEqual({ done: { decision: "allow_once" } });
    expect(answer("3")).toEqual(answer("t"));
    expect(dialog.onKey(stateAfter(dialog, ["down", "down"]), key("enter"))).toEqual(answer("s"));
    expect(dialog.onKey(stateAfter(dialog, ["up", "up"]), key("enter"))).toEqual(answer("a"));
    for (const [keys, always] of [
      [["a", "p"], "project"],
      [["4", "2"], "user"],
    ] as const) {
      expect(dialog.onKey(stateAfter(dialog, [keys[0]]), key(keys[1]))).toEqual({
        done: { decision: "allow_pattern", always },
      });
    }
    expect(answer("escape")).toEqual({ done: { decision: "deny" } });
    for (const id of ["enter", "space", "z", "ctrl+y"]) expect(answer(id)).toHaveProperty("state");
  });
});
