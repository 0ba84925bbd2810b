import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { CallId, TurnId } from "../../../protocol/ids.js";
import type { PermissionAnswer } from "../../sdk/permission-choices.js";
import type { PlanAnswer } from "../../sdk/plan-choices.js";
import { plainTheme } from "../themes.js";
import { QuestionPrompt } from "./question-prompt.js";

type Question = EventPayloads["PermissionRequested"];

function question(number: number, more: Partial<Question> = {}): Question {
  const call = `call_${number}` as CallId;
  return {
    call,
    tool: "bash",
    tool_kind: "run",
    args: {},
    summary: `bash: touch ${number}`,
    offer: ["bash: touch *"],
    ...more,
  };
}

function prompt() {
  const answers: [string, PermissionAnswer][] = [];
  const reviewed: string[] = [];
  const tokens: [string, string][] = [];
  const typed: string[] = [];
  const plans: PlanAnswer[] = [];
  const questions = new QuestionPrompt({
    type: ({ data }) => typed.push(data),
    answerPlan: (answer) => plans.push(answer),
    answerToken: ({ request }, answer) => tokens.push([request, answer]),
    copyCode: ({ code }) => tokens.push(["copy", code]),
    review: ({ call }) => reviewed.push(call),
    answer: ({ call }, answer) => answers.push([call, answer]),
  });
  const press = (id: string, now: number) => questions.onKey({ id, data: id }, { now, turnRuns: true });
  const show = (asked: readonly Question[], place: { readonly now: number; readonly draftIsEmpty: boolean }) =>
    questions.show({ questions: asked, tokens: [] }, place);
  return { questions, answers, plans, typed, reviewed, tokens, press, show };
}

describe("a question beside the draft", () => {
  verifies(["P2"], "is not answered by a letter that was meant for the draft", () => {
    const { answers, press, show } = prompt();
    press("a", 1000);
    show([question(1)], { now: 1100, draftIsEmpty: true });
    expect(press("y", 1200)).toBe(true);
    expect(answers).toEqual([]);
    press("y", 1800);
    expect(answers).toEqual([["call_1", { decision: "allow_once" }]]);
  });

  verifies(["L16", "U2"], "takes words such as 'yes, go ahead' as one answer about a plan", () => {
    const { questions, plans, press } = prompt();
    questions.show({ questions: [], tokens: [], plan: "turn_1" as TurnId }, { now: 5000, draftIsEmpty: true });
    for (const [at, letter] of [..."yes, go ahead"].entries()) expect(press(letter, 6000 + at * 120)).toBe(true);
    expect(press("enter", 7700)).toBe(true);
    expect(plans).toEqual([{ kind: "carry out" }]);
    expect(press("a", 9000), "after a pause the keys are for the draft").toBe(false);
  });

  verifies(["L16", "U2"], "leaves words that are no answer about a plan to the draft, also without a pause", () => {
    for (const [answer, words] of [
      ["y", "then run the tests"],
      ["y", "estimate it"],
      ["e", "after words"],
      ["c", "arry on with b.ts"],
    ] as const) {
      const { questions, plans, typed, press } = prompt();
      questions.show({ questions: [], tokens: [], plan: "turn_1" as TurnId }, { now: 5000, draftIsEmpty: true });
      press(answer, 6000);
      for (const [at, letter] of [...words].entries()) if (!press(letter, 6010 + at * 10)) typed.push(letter);
      expect(press("enter", 6400)).toBe(false);
      expect(typed.join("")).toBe(words);
      expect(plans).toHaveLength(1);
    }
  });

  verifies(["P2"], "leaves the keys to a draft that has text, until Tab", () => {
    const { answers, press, show } = prompt();
    show([question(1)], { now: 5000, draftIsEmpty: false });
    expect(press("n", 6000)).toBe(false);
    press("tab", 7000);
    press("n", 8000);
    press("enter", 8001);
    expect(answers).toEqual([["call_1", { decision: "deny" }]]);
  });

  verifies(["P2", "U3"], "opens the review by v, and takes its answer only while the question is open", () => {
    const { questions, answers, reviewed, press, show } = prompt();
    show([question(1)], { now: 5000, draftIsEmpty: true });
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
    const { questions, answers, press, show } = prompt();
    show([question(1), question(2)], { now: 5000, draftIsEmpty: true });
    press("s", 6000);
    show([question(1), question(2)], { now: 6001, draftIsEmpty: true });
    press("t", 7000);
    expect(answers).toEqual([
      ["call_1", { decision: "allow_pattern" }],
      ["call_2", { decision: "allow_tool" }],
    ]);
    show([question(3)], { now: 8000, draftIsEmpty: true });
    show([], { now: 8001, draftIsEmpty: true });
    expect(questions.view({ columns: 80, rows: 20 }, plainTheme)).toBeUndefined();
  });

  verifies(["P2", "U2"], "lists several, which left and right go through, and takes answers in any order", () => {
    const { questions, answers, press, show } = prompt();
    const three = [question(1), question(2), question(3)];
    show(three, { now: 5000, draftIsEmpty: true });
    const text = (rows = 24) => questions.view({ columns: 80, rows }, plainTheme)?.lines.join("\n") ?? "";
    expect(text()).toMatch(
      /^question 1 of 3, left and right go to another\n❯ .*touch 1.*\n {2}.*touch 2.*\n {2}.*touch 3/,
    );
    expect(text(7), "no room for the list").toMatch(/^question 1 of 3.*\nAllow bash\?/);
    press("left", 6000);
    expect(text()).toMatch(/^question 3 of 3[\s\S]*❯ .*touch 3/);
    press("y", 6001);
    show(three, { now: 6002, draftIsEmpty: true });
    // A key right after an answer answers nothing else.
    press("n", 6100);
    press("right", 7000);
    expect(text()).toMatch(/^question 2 of 2[\s\S]*❯ .*touch 2/);
    // The words of a denial need the arrows themselves.
    press("m", 8000);
    questions.onKey({ id: "right", data: "" }, { now: 8001, turnRuns: true });
    expect(text()).toMatch(/^question 2 of 2\n/);
    press("enter", 8002);
    // Another client answers the first one.
    show([question(2)], { now: 8003, draftIsEmpty: true });
    expect(questions.view({ columns: 80, rows: 24 }, plainTheme)).toBeUndefined();
    expect(answers).toEqual([
      ["call_3", { decision: "allow_once" }],
      ["call_2", { decision: "deny" }],
    ]);
  });

  verifies(["P2"], "offers only what the engine would keep", () => {
    const { questions, answers, press, show } = prompt();
    show([question(1, { once_only: true })], { now: 5000, draftIsEmpty: true });
    press("t", 6000);
    press("s", 7000);
    press("a", 8000);
    expect(answers).toEqual([]);
    const text = questions.view({ columns: 80, rows: 20 }, plainTheme)?.lines.join("\n") ?? "";
    expect(text).not.toContain("[t]");
    press("y", 9000);
    expect(answers).toEqual([["call_1", { decision: "allow_once" }]]);
  });

  verifies(["P2"], "asks where a lasting rule holds; Esc goes back from there and stops no turn", () => {
    const { questions, answers, press, show } = prompt();
    show([question(1, { always: ["bash+network: git push *"] })], { now: 5000, draftIsEmpty: true });
    const text = () => questions.view({ columns: 100, rows: 20 }, plainTheme)?.lines.join("\n") ?? "";
    expect(text()).toContain("[a] always allow: git push *, with network");
    press("a", 6000);
    expect(text()).toContain("[p] in this project");
    expect(text(), "what it writes").toContain("│ bash+network: git push *");
    expect(press("escape", 7000)).toBe(true);
    expect(text()).toContain("[y] yes");
    press("a", 8000);
    press("down", 9000);
    press("enter", 9001);
    expect(answers).toEqual([["call_1", { decision: "allow_pattern", always: "project" }]]);
  });

  verifies(["P2"], "leaves Esc to the turn that asks, and denies by it without a turn", () => {
    const { questions, answers, press, show } = prompt();
    show([question(1)], { now: 5000, draftIsEmpty: true });
    expect(questions.view({ columns: 40, rows: 20 }, plainTheme)?.lines.at(-1)).toContain("esc: stop");
    expect(press("escape", 6000)).toBe(false);
    press("m", 7000);
    expect(press("escape", 8000)).toBe(true);
    expect(answers).toEqual([]);
    questions.onKey({ id: "escape", data: "" }, { now: 9000, turnRuns: false });
    expect(answers).toEqual([["call_1", { decision: "deny" }]]);
  });

  verifies(["P2"], "shows the code of a token that a program asks for, and takes one key", () => {
    const { questions, tokens, press } = prompt();
    const request = (id: string) => ({
      request: id,
      asks: "A program asks for a token: agent.",
      code: "012345",
      until: 9e9,
    });
    questions.show({ questions: [question(1)], tokens: [] }, { now: 5000, draftIsEmpty: true });
    questions.show({ questions: [question(1)], tokens: [request("a")] }, { now: 5000, draftIsEmpty: true });
    const text = () => questions.view({ columns: 60, rows: 20 }, plainTheme)?.lines.join("\n") ?? "";
    // An open question stays until it is answered.
    expect(text()).toContain("touch 1");
    questions.show({ questions: [], tokens: [request("a"), request("b")] }, { now: 5001, draftIsEmpty: true });
    expect(text()).toContain("Code: 012345");
    press("c", 7000);
    press("y", 7001);
    expect(text()).toContain("Code: 012345");
    press("n", 7002);
    questions.show({ questions: [], tokens: [request("a"), request("b")] }, { now: 7003, draftIsEmpty: true });
    press("escape", 9000);
    questions.show({ questions: [], tokens: [request("b")] }, { now: 9001, draftIsEmpty: true });
    expect(tokens).toEqual([
      ["copy", "012345"],
      ["a", "refuse"],
      ["b", "later"],
    ]);
    expect(questions.hasFocus).toBe(false);
  });
});
