import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../test/support/thorough.js";
import { CostCounter } from "./cost-marks.js";
import { pauseMs, reduceReplay } from "./reduce-replay.js";
import { bodyLines, bodyRows } from "./replay-body.js";
import { initialReplay, type ReplayAction, type ReplayState } from "./replay-state.js";
import { StepGrouper } from "./step.js";
import type { StepContent } from "./step-content.js";
import { longLog, SampleLog, sampleLog } from "./test-support/sample-log.js";

const FACTS = { title: "sess_1", lastEvent: 21, color: false, timeZone: "UTC" };
const SIZE = { columns: 60, rows: 12 };

function indexOf(log: SampleLog) {
  const grouper = new StepGrouper();
  const counter = new CostCounter();
  const steps = [...log.events.map((event) => grouper.take(event)), grouper.end()].filter((step) => step !== undefined);
  const costs = log.events.map((event) => counter.take(event)).filter((mark) => mark !== undefined);
  return { steps, costs, upTo: log.events.length };
}

function opened(log = sampleLog()): ReplayState {
  return act(initialReplay(FACTS, SIZE), { type: "indexed", ...indexOf(log) }, { type: "index-ended" });
}

function act(state: ReplayState, ...actions: ReplayAction[]): ReplayState {
  return actions.reduce(reduceReplay, state);
}

function press(state: ReplayState, ...keys: string[]): ReplayState {
  return act(state, ...keys.map((key) => ({ type: "key" as const, key })));
}

const lines = (count: number, word = "line"): StepContent => ({
  title: "answer",
  sections: [{ when: "always", text: Array.from({ length: count }, (_, n) => `${word} ${n + 1}`).join("\n") }],
});

const show = (state: ReplayState, content: StepContent) => act(state, { type: "content", step: state.at, content });

describe("[S6] moving through the steps", () => {
  it("moves forward with space, right and j, and back with left, k and b", () => {
    expect(press(opened(), " ", "right", "j").at).toBe(3);
    expect(press(opened(), " ", "right", "j", "left", "k", "b").at).toBe(0);
  });

  it("stays at both ends with a message", () => {
    const beginning = press(opened(), "left");
    expect([beginning.at, beginning.message]).toEqual([0, "This is the beginning."]);
    const end = press(opened(), "end", " ");
    expect([end.at, end.message]).toEqual([9, "The end."]);
  });

  it("goes to the first and last step", () => {
    expect(press(opened(), "end").at).toBe(9);
    expect(press(opened(), "end", "home").at).toBe(0);
  });

  it("goes turn by turn; p goes to the beginning of the turn first", () => {
    expect(press(opened(), "n").at).toBe(7);
    expect(press(opened(), "n", "j", "p").at).toBe(7);
    expect(press(opened(), "n", "p").at).toBe(0);
    const last = press(opened(), "n", "n");
    expect([last.at, last.message]).toEqual([7, "The last turn."]);
    const first = press(opened(), "p");
    expect([first.at, first.message]).toEqual([0, "This is the beginning."]);
  });

  it("goes to a turn by its number, with or without g", () => {
    expect(press(opened(), "g", "2", "enter").at).toBe(7);
    expect(press(opened(), "2", "enter").at).toBe(7);
    expect(press(opened(longLog(40)), "1", "9", "backspace", "2", "enter").at).toBe(55);
    expect(press(opened(), "end", "g", "enter").at).toBe(9);
    expect(press(opened(), "2", "escape").prompt).toBeUndefined();
    expect(press(opened(), "7", "7", "enter").message).toBe("There is no turn 77: the session has 2.");
    expect(press(opened(), "0", "enter").message).toBe("There is no turn 0: the session has 2.");
    expect(press(opened(new SampleLog()), "1", "enter").message).toBe("This session has no turns.");
  });

  it("forgets the content of the step it leaves, and keeps it where it stays", () => {
    const shown = show(opened(), lines(3));
    expect(press(shown, "j").content).toBeUndefined();
    expect(press(shown, "left", "home").content).toBe(shown.content);
  });

  it("ignores content that comes too late", () => {
    const late = act(press(opened(), "j"), { type: "content", step: 0, content: lines(1) });
    expect(late.content).toBeUndefined();
  });

  it("leaves with q, Esc, Ctrl-C and Ctrl-D; with Ctrl-C also out of a prompt", () => {
    for (const key of ["q", "escape", "ctrl+c", "ctrl+d"]) expect(press(opened(), key).over).toBe(true);
    expect(press(opened(), "/", "q").over).toBe(false);
    expect(press(opened(), "/", "ctrl+c").over).toBe(true);
  });
});

describe("[S6] a log that is still being read", () => {
  const { steps, costs } = indexOf(sampleLog());
  const partly = act(initialReplay(FACTS, SIZE), { type: "indexed", steps: steps.slice(0, 5), costs: [], upTo: 11 });
  const rest: ReplayAction = { type: "indexed", steps: steps.slice(5), costs, upTo: 21 };

  it("waits at the last known step", () => {
    expect(press(partly, "j", "j", "j", "j", "j").message).toBe("Still reading the session.");
  });

  it("reaches a turn that was not known at the request", () => {
    const wanting = press(partly, "2", "enter");
    expect([wanting.at, wanting.message]).toEqual([0, "Reading up to turn 2 …"]);
    expect(act(wanting, rest)).toMatchObject({ at: 7, message: "", goal: undefined });
  });

  it("reports when the log ends before that turn", () => {
    const missing = act(press(partly, "9", "enter"), rest, { type: "index-ended" });
    expect(missing).toMatchObject({ at: 0, goal: undefined, message: "There is no turn 9: the session has 2." });
  });

  it("follows the end until the log has ended", () => {
    const following = press(partly, "end");
    expect(following.at).toBe(4);
    expect(act(following, rest).at).toBe(9);
  });

  it("gives a goal up for another key", () => {
    expect(act(press(partly, "end", "left"), rest).at).toBe(3);
    expect(act(press(partly, "2", "enter", "j"), rest).at).toBe(1);
  });

  it("keeps its place while steps are added", () => {
    const shown = show(press(partly, "j"), lines(2));
    expect(act(shown, rest)).toMatchObject({ at: 1, content: shown.content });
  });

  it("keeps the steps so far if the rest cannot be read", () => {
    const broken = act(partly, { type: "index-ended", problem: "damaged" });
    expect(broken.steps).toHaveLength(5);
    expect(broken.indexed).toEqual({ upTo: 11, done: true, problem: "damaged" });
  });
});

describe("[S6] scrolling and details", () => {
  it("scrolls by lines and pages inside the step, and no further", () => {
    const shown = show(opened(), lines(100));
    expect(press(shown, "down", "down", "up").scroll).toBe(1);
    expect(press(shown, "pageDown").scroll).toBe(8);
    expect(press(shown, "pageUp").scroll).toBe(0);
    const bottom = press(shown, ...Array.from({ length: 40 }, () => "pageDown"));
    expect(bottom.scroll).toBe(100 - bodyRows(SIZE));
    expect(press(show(opened(), lines(2)), "pageDown").scroll).toBe(0);
  });

  it("stays inside the step when the terminal grows", () => {
    const bottom = press(show(opened(), lines(20)), "pageDown", "pageDown");
    expect(bottom.scroll).toBe(11);
    expect(act(bottom, { type: "resize", size: { columns: 60, rows: 40 } }).scroll).toBe(0);
  });

  it("takes a size that makes no sense for an ordinary one", () => {
    for (const columns of [0, -1, Number.NaN]) {
      expect(act(opened(), { type: "resize", size: { columns, rows: columns } }).size).toEqual({
        columns: 80,
        rows: 24,
      });
    }
  });

  it("switches details, from the top of the step", () => {
    const scrolled = press(show(opened(), lines(50)), "pageDown", "d");
    expect(scrolled).toMatchObject({ details: true, scroll: 0 });
    expect(press(scrolled, "d").details).toBe(false);
  });

  it("opens help, scrolls in it, and closes it with the next key that means something else", () => {
    const help = act(press(opened(), "?"), { type: "resize", size: { columns: 40, rows: 6 } });
    expect(help.help).toBe(true);
    expect(press(help, "pageDown").scroll).toBeGreaterThan(0);
    expect(press(help, "escape")).toMatchObject({ help: false, over: false, at: 0 });
    expect(press(help, "j")).toMatchObject({ help: false, at: 1 });
    expect(press(help, "q").over).toBe(true);
  });
});

describe("[S6] searching", () => {
  const typed = (text: string) => ["/", ...text, "enter"];

  it("asks for a search from here, and repeats the last one", () => {
    const searching = press(opened(), "j", ...typed("two files"));
    expect(searching).toMatchObject({ search: { text: "two files", from: 1 }, needle: "two files", at: 1 });
    const done = act(searching, { type: "not-found", search: searching.search ?? { text: "", from: 0 } });
    expect(done).toMatchObject({ search: undefined, message: "“two files” was not found." });
    expect(press(done, "/", "enter").search).toEqual({ text: "two files", from: 1 });
    expect(press(opened(), "/", "enter").search).toBeUndefined();
  });

  it("goes to the match and scrolls to it", () => {
    const searching = press(opened(), ...typed("line 70"));
    const search = searching.search ?? { text: "", from: 0 };
    const found = act(searching, { type: "found", search, step: 5 });
    expect(found).toMatchObject({ at: 5, search: undefined, message: "" });
    expect(show(found, lines(100)).scroll).toBe(69);
  });

  it("opens the details when it is only there", () => {
    const searching = press(opened(), ...typed("secret thought"));
    const search = searching.search ?? { text: "", from: 0 };
    const content: StepContent = {
      title: "answer",
      sections: [
        { when: "details", text: "A Secret Thought" },
        { when: "always", text: "words" },
      ],
    };
    const found = show(act(searching, { type: "found", search, step: 5 }), content);
    expect(found.details).toBe(true);
    expect(press(found, "k", "j").reveal).toBe(false);
  });

  it("says when it began again from the top", () => {
    const searching = press(opened(), "end", ...typed("x"));
    const search = searching.search ?? { text: "", from: 0 };
    expect(act(searching, { type: "found", search, step: 2 }).message).toBe("The search continued from the beginning.");
  });

  it("ends with Esc or a move, and does not hear a search that was given up", () => {
    const searching = press(opened(), ...typed("x"));
    const search = searching.search ?? { text: "", from: 0 };
    expect(press(searching, "escape")).toMatchObject({ search: undefined, over: false });
    const moved = press(searching, "j");
    expect(act(moved, { type: "found", search, step: 7 }).at).toBe(1);
  });
});

describe("[S6] playing", () => {
  it("waits as long as the recording did, within limits", () => {
    const log = new SampleLog()
      .started("x")
      .add("Cancelled", { turn: "turn_1", by: "" }, 700)
      .add("Cancelled", { turn: "turn_1", by: "" }, 60_000)
      .add("Cancelled", { turn: "turn_1", by: "" }, 1);
    const playing = press(opened(log), "a");
    expect(pauseMs(playing)).toBeUndefined();
    expect(pauseMs(show(playing, lines(1)))).toBe(700);
    const second = show(act(playing, { type: "tick" }), lines(1));
    expect([second.at, pauseMs(second)]).toEqual([1, 2000]);
    const third = show(act(second, { type: "tick" }), lines(1));
    expect([third.at, pauseMs(third)]).toEqual([2, 150]);
    expect(act(third, { type: "tick" })).toMatchObject({ at: 3, playing: false, message: "The end." });
  });

  it("stops with a, with a move and with a prompt; details and scrolling leave it alone", () => {
    const playing = press(opened(), "a");
    for (const key of ["a", "j", "k", "n", "p", "home", "end", "g", "/", "?"]) {
      expect(press(playing, key).playing).toBe(false);
    }
    for (const key of ["d", "pageDown", "x"]) expect(press(playing, key).playing).toBe(true);
    expect(act(press(playing, "a"), { type: "tick" }).at).toBe(0);
  });

  it("does not begin at the end", () => {
    expect(press(opened(), "end", "a")).toMatchObject({ playing: false, message: "The end." });
  });

  it("waits for more of the log, and stops when there is none", () => {
    const { steps } = indexOf(sampleLog());
    const partly = act(initialReplay(FACTS, SIZE), { type: "indexed", steps: steps.slice(0, 1), costs: [], upTo: 1 });
    const waiting = act(press(partly, "a"), { type: "tick" });
    expect(waiting).toMatchObject({ playing: true, at: 0 });
    expect(act(waiting, { type: "index-ended" }).playing).toBe(false);
  });
});

describe("[S6] any keys in any order", () => {
  const key = fc.oneof(
    fc.constantFrom(" ", "j", "k", "n", "p", "left", "right", "home", "end", "pageUp", "pageDown", "up", "down"),
    fc.constantFrom("d", "a", "g", "/", "?", "enter", "escape", "backspace", "ctrl+u", "1", "2", "9", "x", "世"),
  );
  const action: fc.Arbitrary<ReplayAction | "content" | "found" | "more"> = fc.oneof(
    { weight: 6, arbitrary: key.map((each) => ({ type: "key" as const, key: each })) },
    { weight: 1, arbitrary: fc.constant({ type: "tick" as const }) },
    { weight: 2, arbitrary: fc.constantFrom("content" as const, "found" as const, "more" as const) },
    {
      weight: 1,
      arbitrary: fc
        .record({ columns: fc.integer({ min: -1, max: 120 }), rows: fc.integer({ min: -1, max: 50 }) })
        .map((size) => ({ type: "resize" as const, size })),
    },
  );
  const all = indexOf(longLog(6));

  const next = (state: ReplayState, move: ReplayAction | "content" | "found" | "more"): ReplayState => {
    if (move === "content") return show(state, lines(state.at * 7, "x"));
    if (move === "found") {
      return state.search === undefined ? state : act(state, { type: "found", search: state.search, step: state.at });
    }
    if (move !== "more") return reduceReplay(state, move);
    const known = state.steps.length;
    if (known >= all.steps.length) return act(state, { type: "index-ended" });
    return act(state, { type: "indexed", steps: all.steps.slice(known, known + 9), costs: [], upTo: known });
  };

  it("keep the state valid", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (moves) => {
        let state = initialReplay(FACTS, SIZE);
        for (const move of moves) {
          state = next(state, move);
          expect(Number.isInteger(state.at)).toBe(true);
          expect(state.at).toBeGreaterThanOrEqual(0);
          expect(state.at).toBeLessThan(Math.max(1, state.steps.length));
          const most = Math.max(0, bodyLines(state, state.size).length - bodyRows(state.size));
          expect(state.scroll).toBeGreaterThanOrEqual(0);
          expect(state.scroll).toBeLessThanOrEqual(most);
          expect(state.turnStarts.every((start) => state.steps[start]?.kind === "input")).toBe(true);
          if (state.prompt?.kind === "turn") expect(state.prompt.text).toMatch(/^\d*$/);
        }
      }),
      { numRuns: times(60, 300) },
    );
  });

  it("are undone by going back: a step, and then the same one back", () => {
    const state = opened(longLog(5));
    fc.assert(
      fc.property(fc.nat({ max: state.steps.length - 2 }), fc.constantFrom(" ", "right", "j"), (at, forward) => {
        const here = { ...state, at };
        for (const back of ["left", "k", "b"]) {
          expect(press(here, forward, back).at).toBe(at);
          if (at > 0) expect(press(here, back, forward).at).toBe(at);
        }
      }),
    );
  });
});
