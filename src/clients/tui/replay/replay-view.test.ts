import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../../base/text-width.js";
import { CostCounter } from "./cost-marks.js";
import { reduceReplay } from "./reduce-replay.js";
import { initialReplay, type ReplayAction, type ReplayState } from "./replay-state.js";
import { viewReplay } from "./replay-view.js";
import { StepGrouper } from "./step.js";
import type { StepContent } from "./step-content.js";
import { SampleLog, sampleLog } from "./test-support/sample-log.js";

const FACTS = {
  title: "sess_1 List\u001b[31m files",
  lastEvent: 21,
  color: false,
  timeZone: "UTC",
  model: "first:model",
};

function opened(log: SampleLog, facts = FACTS): ReplayState {
  const grouper = new StepGrouper();
  const counter = new CostCounter(({ usage }) => usage.input / 1000);
  const steps = [...log.events.map((event) => grouper.take(event)), grouper.end()].filter((step) => step !== undefined);
  const costs = log.events.map((event) => counter.take(event)).filter((mark) => mark !== undefined);
  return act(
    initialReplay(facts, { columns: 100, rows: 10 }),
    { type: "indexed", steps, costs, upTo: log.events.length },
    { type: "index-ended" },
  );
}

function act(state: ReplayState, ...actions: ReplayAction[]): ReplayState {
  return actions.reduce(reduceReplay, state);
}

const press = (state: ReplayState, ...keys: string[]) =>
  act(state, ...keys.map((key) => ({ type: "key" as const, key })));
const show = (state: ReplayState, content: StepContent) => act(state, { type: "content", step: state.at, content });
const CONTENT: StepContent = { title: "answer", sections: [{ when: "always", text: "Let me look." }] };

describe("[S6] viewReplay", () => {
  it("shows the step between its title and the status", () => {
    const state = show(press(opened(sampleLog()), "j"), CONTENT);
    expect(viewReplay(state)).toEqual([
      "▌ answer",
      "Let me look.",
      "",
      "",
      "",
      "",
      "",
      "",
      "step 2/10 · turn 1/2 · 2026-01-31 · 12:00:00 · +30ms · test:mock",
      "sess_1 List files · replay: nothing is executed · ? help",
    ]);
  });

  it("adds up the costs, and names the model of the turn", () => {
    const state = press(opened(sampleLog()), "end");
    expect(viewReplay(state).at(-2)).toBe(
      "step 10/10 · turn 2/2 · 2026-01-31 · 12:00:06 · +0ms · test:other · 400 in · 40 out · $0.40",
    );
    const first = viewReplay(opened(new SampleLog().started("hi"))).at(-2);
    expect(first).toBe("step 1/1 · turn 1/1 · 2026-01-31 · 12:00:00 · first:model");
  });

  it("leaves out the least important of the status when room is short", () => {
    const state = press(opened(sampleLog()), "end");
    const status = (columns: number, rows = 10) => viewReplay(state, { columns, rows }).slice(rows >= 8 ? -2 : -1);
    expect(status(60)).toEqual([
      "step 10/10 · turn 2/2 · 12:00:06 · +0ms · test:other · $0.40",
      "sess_1 List files · replay: nothing is executed · ? help",
    ]);
    expect(status(30)).toEqual(["step 10/10 · turn 2/2", "replay: nothing is executed"]);
    expect(status(60, 5)).toEqual(["step 10/10 · turn 2/2 · replay: nothing is executed"]);
    expect(status(20, 5)).toEqual(["step 10/10"]);
    expect(status(6, 5)).toEqual(["step …"]);
  });

  it("says how far a log was read, and that there is nothing in an empty one", () => {
    const reading = act(initialReplay(FACTS, { columns: 40, rows: 8 }), {
      type: "indexed",
      steps: [],
      costs: [],
      upTo: 7,
    });
    expect(viewReplay(reading).join("\n")).toMatch(/Reading …[\s\S]*step 0\/0\+ \(33%\)/);
    expect(viewReplay(opened(new SampleLog()))[1]).toBe("This session has no events yet.");
    const damaged = act(initialReplay(FACTS, { columns: 40, rows: 8 }), {
      type: "index-ended",
      problem: "Event 1 is damaged.",
    });
    expect(viewReplay(damaged)[1]).toBe("Event 1 is damaged.");
  });

  it("shows a prompt, its end when it is long, a search and a message in the last line", () => {
    const state = opened(sampleLog());
    expect(viewReplay(press(state, "/", "a", "b")).at(-1)).toBe("/ab▏");
    expect(viewReplay(press(state, "1", "2")).at(-1)).toBe("turn: 12▏");
    const long = press(state, "/", ..."abcdefghijklmnopqrstuvwxyz");
    expect(viewReplay(long, { columns: 12, rows: 8 }).at(-1)).toBe("…qrstuvwxyz▏");
    expect(viewReplay(press(state, "/", "x", "enter")).at(-1)).toBe("Searching “x” … Esc stops");
    expect(viewReplay(press(state, "k")).at(-1)).toBe("This is the beginning.");
  });

  it("shows where in a long step it is, and the mark of playing", () => {
    const text = Array.from({ length: 50 }, (_, n) => `line ${n + 1}`).join("\n");
    const state = show(press(opened(sampleLog()), "a"), { title: "you", sections: [{ when: "always", text }] });
    const [title, first] = viewReplay(press(state, "pageDown"), { columns: 40, rows: 10 });
    expect(title).toBe("▶ you                            7–13/50");
    expect(first).toBe("line 7");
  });

  it("chooses the sections by the details", () => {
    const content: StepContent = {
      title: "answer",
      sections: [
        { when: "details", text: "thoughts", label: "thinking", style: "dim" },
        { when: "plain", text: "short" },
        { when: "details", text: "whole" },
      ],
    };
    const state = show(opened(sampleLog()), content);
    expect(viewReplay(state).slice(1, 3)).toEqual(["short", ""]);
    expect(viewReplay(press(state, "d")).slice(1, 6)).toEqual(["── thinking", "thoughts", "", "whole", ""]);
  });

  it("marks the search text", () => {
    const state = show(
      press(opened(sampleLog(), { ...FACTS, color: true }), "/", "l", "o", "o", "k", "enter"),
      CONTENT,
    );
    expect(viewReplay(state)[1]).toBe("Let me \u001b[7mlook\u001b[27m.");
  });

  it("fills every terminal exactly, however small", () => {
    const text = "世界 and a word 👩‍👩‍👧 that_is_rather_long_for_this\n\ttab";
    const content: StepContent = {
      title: "世界世界世界世界世界",
      sections: [{ when: "always", text: text.repeat(5) }],
    };
    const keys = fc.constantFrom(["d"], ["?"], ["/", "世", "界", "w", "o", "r", "d"], ["k"], ["a"], ["end"], ["3"]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 30 }), keys, (columns, rows, typed) => {
        const resized = act(opened(sampleLog()), { type: "resize", size: { columns, rows } });
        const screen = viewReplay(show(press(resized, ...typed), content));
        expect(screen).toHaveLength(rows);
        for (const line of screen) expect(textWidth(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it("keeps title, two lines and the place on 20 by 5", () => {
    const state = show(act(opened(sampleLog()), { type: "resize", size: { columns: 20, rows: 5 } }), CONTENT);
    expect(viewReplay(state)).toEqual(["▌ answer", "Let me look.", "", "", "step 1/10 · turn 1/2"]);
  });
});
