import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { CallId } from "../../../protocol/ids.js";
import { plainTheme } from "../themes.js";
import type { PermissionAnswer } from "./permission.js";
import { QuestionPrompt } from "./question-prompt.js";

type Question = EventPayloads["PermissionRequested"];

function question(number: number, more: Partial<Question> = {}): Question {
  const call = `call_${number}` as CallId;
  return { call, tool: "bash", args: {}, summary: `bash: touch ${number}`, offer: ["bash: touch *"], ...more };
}

function prompt() {
  const answers: [string, PermissionAnswer][] = [];
  const reviewed: string[] = [];
  const questions = new QuestionPrompt({
    clock: new ManualClock(),
    review: ({ call }) => reviewed.push(call),
    answer: ({ call }, answer) => answers.push([call, answer]),
  });
  const press = (id: string, now: number) => questions.onKey({ id, data: id }, { now, draftIsEmpty: true });
  return { questions, answers, reviewed, press };
}

describe("a question beside the draft", () => {
  verifies(["P2"], "is not answered by a letter that was meant for the draft", () => {
    const { questions, answers, press } = prompt();
    press("a", 1000);
    questions.show([question(1)], { now: 1100, draftIsEmpty: true });
    expect(press("y", 1200)).toBe(true);
    expect(answers).toEqual([]);
    press("y", 1800);
    expect(answers).toEqual([["call_1", { decision: "allow_once" }]]);
  });

  verifies(["P2"], "leaves the keys to a draft that has text, until Tab", () => {
    const { questions, answers, press } = prompt();
    questions.show([question(1)], { now: 5000, draftIsEmpty: false });
    expect(press("n", 6000)).toBe(false);
    press("tab", 7000);
    press("n", 8000);
    expect(answers).toEqual([["call_1", { decision: "deny" }]]);
  });

  verifies(["P2", "U3"], "opens the review by v, and takes its answer only while the question is open", () => {
    const { questions, answers, reviewed, press } = prompt();
    questions.show([question(1)], { now: 5000, draftIsEmpty: true });
    press("v", 6000);
    expect(reviewed).toEqual(["call_1"]);
    questions.answerFor(question(2), { decision: "allow_once" });
    expect(answers).toEqual([]);
    questions.askWhy(question(1));
    for (const id of ["v", "enter"]) press(id, 7000);
    expect(answers).toEqual([["call_1", { decision: "deny", message: "v" }]]);
    questions.answerFor(question(1), { decision: "allow_once" });
    expect(answers).toHaveLength(1);
  });

  verifies(["P2"], "shows the next one, and closes when another client has answered", () => {
    const { questions, answers, press } = prompt();
    questions.show([question(1), question(2)], { now: 5000, draftIsEmpty: true });
    press("s", 6000);
    questions.show([question(1), question(2)], { now: 6001, draftIsEmpty: true });
    press("t", 7000);
    expect(answers).toEqual([
      ["call_1", { decision: "allow_pattern" }],
      ["call_2", { decision: "allow_tool" }],
    ]);
    questions.show([question(3)], { now: 8000, draftIsEmpty: true });
    questions.show([], { now: 8001, draftIsEmpty: true });
    expect(questions.view({ columns: 80, rows: 20 }, plainTheme)).toBeUndefined();
  });

  verifies(["P2"], "offers only what the engine would keep", () => {
    const { questions, answers, press } = prompt();
    questions.show([question(1, { once_only: true })], { now: 5000, draftIsEmpty: true });
    press("t", 6000);
    press("s", 7000);
    press("a", 8000);
    expect(answers).toEqual([]);
    const text = questions.view({ columns: 80, rows: 20 }, plainTheme)?.lines.join("\n") ?? "";
    expect(text).not.toContain("[t]");
    press("y", 9000);
    expect(answers).toEqual([["call_1", { decision: "allow_once" }]]);
  });
});
