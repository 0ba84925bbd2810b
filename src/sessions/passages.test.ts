import { expect, it } from "vitest";
import type { Envelope } from "../protocol/envelope.js";
import { EXPIRED } from "../protocol/events.js";
import { PassageReader } from "./passages.js";

const text = (words: string) => [{ type: "text", text: words }];

/** `KIND turn event: TEXT`, or `KIND(TOOL) …`, of these events with ids from 1. */
function read(...events: readonly (readonly [string, object])[]): readonly string[] {
  const reader = new PassageReader();
  const all = events.map(
    ([kind, payload], at) => ({ id: at + 1, ts: `t${at + 1}`, kind, payload }) as unknown as Envelope,
  );
  const passages = [...all.flatMap((event) => reader.take(event)), ...reader.end()];
  return passages.map(({ kind, tool, turn, event, ts, text: words }) => {
    expect(ts).toBe(`t${event}`);
    return `${kind}${tool === undefined ? "" : `(${tool})`} ${turn} ${event}: ${words}`;
  });
}

const input = (words: string) => ["TurnStarted", { turn: "t", input: text(words) }] as const;
const delta = (words: string) => ["TextDelta", { text: words }] as const;
const ANSWERED = ["AnswerEnded", { turn: "t", provider: "p", model: "m", stop: "end" }] as const;
const END = ["TurnEnded", { turn: "t", text: "" }] as const;

it("reads inputs, whole answers, calls and results, each with its turn and its first event", () => {
  const call = { call: "c1", tool: "bash", args: { command: "ls", list: ["-l", { deep: "x" }], count: 3 } };
  expect(
    read(
      input("one"),
      delta("Hel"),
      delta("lo."),
      ANSWERED,
      ["ToolCallStarted", call],
      ["ToolResult", { call: "c1", tool: "bash", status: "ok", content: text("a.txt") }],
      delta("Done."),
      ANSWERED,
      END,
      ["ContextAdded", { source: "s", text: "added" }],
      input("two"),
      ["InputSteered", { input: text("rather three") }],
      delta("Four."),
    ),
  ).toEqual([
    "input 1 1: one",
    "answer 1 2: Hello.",
    "call(bash) 1 5: ls\n-l\nx\n3",
    "result(bash) 1 6: a.txt",
    "answer 1 7: Done.",
    "input 1 10: added",
    "input 2 11: two",
    "input 2 12: rather three",
    "answer 2 13: Four.",
  ]);
});

it("leaves out what was withdrawn, what has expired, and what only repeats", () => {
  const retracted = ["AnswerRetracted", { turn: "t", reason: "Overloaded" }] as const;
  expect(read(input("one"), delta("Half"), retracted, delta("Whole."), END)).toEqual([
    "input 1 1: one",
    "answer 1 4: Whole.",
  ]);
  // Only the end of a turn has the text of an answer that came as a whole.
  const whole = ["TurnEnded", { turn: "t", text: "At once." }] as const;
  expect(read(input("one"), whole)).toEqual(["input 1 1: one", "answer 1 2: At once."]);
  expect(read(input("one"), delta("In parts."), whole)).toEqual(["input 1 1: one", "answer 1 2: In parts."]);
  expect(read(input(EXPIRED), delta(EXPIRED), END)).toEqual([]);
  const recall = { call: "c1", tool: "recall", args: { query: "x" } };
  const found = { call: "c1", tool: "recall", status: "ok", content: text("old words") };
  expect(read(input("one"), ["ToolCallStarted", recall], ["ToolResult", found])).toEqual(["input 1 1: one"]);
});

it("cuts what is long at most 64 times, between lines where it can", () => {
  const lines = Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(99, "x"));
  const passages = read(input(lines.join("\n")));
  const pieces = passages.map((passage) => passage.replace(/^input 1 1: /, ""));
  expect(pieces.every((piece) => piece.length <= 1_200)).toBe(true);
  expect(pieces.join("\n").split("\n")).toEqual(lines);
  expect(read(input("y".repeat(100_000)))).toHaveLength(64);
});
