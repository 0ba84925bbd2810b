import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import type { ClientId, SessionId } from "../../../protocol/ids.js";
import type { PlaceStatus } from "../../../protocol/queries.js";
import { firstState, type State } from "../state.js";
import { StatusCommand } from "./status-command.js";

const PLACE: PlaceStatus = { cwd: "/home/me/app", mode: "auto", instructions: [], context_window: 1000, background: 2 };
const START = { client: "cli_1" as ClientId, session: "sess_1" as SessionId, model: "anthropic:claude" };
const state = (more: Partial<State> = {}): State => ({ ...firstState(START), place: PLACE, ...more });

function open(outputs: (string | undefined)[]) {
  const clock = new ManualClock();
  const inputs: string[] = [];
  let changes = 0;
  const command = new StatusCommand("my-line", {
    clock,
    run: async (line, input, folder) => {
      inputs.push(`${line} in ${folder}`, input);
      return outputs.shift();
    },
    onChange: () => {
      changes += 1;
    },
  });
  return { clock, command, inputs, changes: () => changes };
}

const settled = () => new Promise(setImmediate);

describe("a status line by a command", () => {
  verifies(["U2"], "gets the state as JSON, and shows the first line as plain text", async () => {
    const { command, inputs } = open(["\n\u001b[31mred\u001b[0m \u001b]0;x\u0007line\nsecond\n"]);
    expect(command.line(firstState(START)), "the place is not known yet").toBeUndefined();
    expect(inputs).toEqual([]);
    expect(command.line(state())).toBeUndefined();
    await settled();
    expect(command.line(state())).toBe("red ␛]0;x␇line");
    expect(inputs[0]).toBe("my-line in /home/me/app");
    expect(JSON.parse(inputs[1] ?? "")).toMatchObject({
      session_id: "sess_1",
      model: { id: "anthropic:claude", display_name: "claude" },
      workspace: { current_dir: "/home/me/app", added_dirs: [] },
      cost: { total_cost_usd: 0 },
      context_window: { context_window_size: 1000, used_percentage: 0 },
      mode: "auto",
      background: 2,
    });
    const hidden = open([""]);
    hidden.command.line(state({ hidesCost: true }));
    expect(hidden.inputs[1]).not.toContain("cost");
  });

  verifies(["U2", "P13"], "runs for another state alone, at most every three seconds, and one at a time", async () => {
    const { clock, command, inputs, changes } = open(["one", "two", undefined]);
    command.line(state());
    command.line(state({ title: "while it runs" }));
    await settled();
    for (let paints = 0; paints < 5; paints++) expect(command.line(state())).toBe("one");
    expect(inputs.length).toBe(2);
    const changed = state({ title: "other" });
    for (let paints = 0; paints < 5; paints++) expect(command.line(changed)).toBe("one");
    clock.advance(2999);
    expect([inputs.length, changes()]).toEqual([2, 1]);
    clock.advance(1);
    expect(changes()).toBe(2);
    command.line(changed);
    await settled();
    expect([command.line(changed), inputs.length]).toEqual(["two", 4]);
    clock.advance(3000);
    command.line(state({ title: "third" }));
    await settled();
    expect(command.line(state({ title: "third" })), "it failed").toBeUndefined();
  });
});
