import { describe, expect, it } from "vitest";
import { text } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import { type ForeignCall, ForeignTurns, imageFromUrl, lastCall } from "./foreign-session.js";

const AT = "2026-02-01T12:00:00.000Z";
const LATER = "2026-02-01T12:00:05.000Z";

/** Tells what the turns hold: inputs as texts, parts by their kind. */
function shape(turns: ForeignTurns) {
  return turns
    .end()
    .map(({ input, parts, cancelledBy }) => [
      input.map((block) => ("text" in block ? block.text : block.type)).join(" + "),
      ...parts.map((part) => (part.type === "answer" ? part.key : part.type)),
      ...(cancelledBy === undefined ? [] : [`cancelled by ${cancelledBy}`]),
    ]);
}

type Step = (turns: ForeignTurns) => unknown;
const input =
  (words: string): Step =>
  (turns) =>
    turns.input([text(words)], AT);
const tentative =
  (words: string): Step =>
  (turns) =>
    turns.tentativeInput([text(words)], AT);
const context =
  (words: string): Step =>
  (turns) =>
    turns.context([text(words)]);
const answer =
  (key: string): Step =>
  (turns) =>
    turns.answer(key, "m", AT);
const cancel: Step = (turns) => turns.cancel("person", AT);
const fail: Step = (turns) => turns.failure(failure("Internal", { detail: "x" }), AT);
const compact: Step = (turns) => turns.compaction("sum", "r", AT);
const back =
  (count: number): Step =>
  (turns) =>
    turns.rollBack(count);
const drop: Step = (turns) => turns.dropTentative();
const call: Step = (turns) =>
  turns.lastAnswer?.blocks.push({
    type: "call",
    id: "1",
    tool: "t",
    args: {},
    result: { status: "ok", content: [text("out")], at: AT },
  });

const CASES: readonly (readonly [string, readonly Step[], readonly (readonly string[])[]])[] = [
  ["an input and its answer", [input("a"), answer("k")], [["a", "k"]]],
  ["inputs without an answer between them are one", [input("a"), input("b"), answer("k")], [["a + b", "k"]]],
  ["an empty input is none", [(turns) => turns.input([], AT), answer("k")], [["[No input was recorded.]", "k"]]],
  ["an input after an answer begins a turn", [input("a"), answer("k"), input("b")], [["a", "k"], ["b"]]],
  [
    "an input after a cancelled input begins a turn",
    [input("a"), cancel, input("b")],
    [["a", "cancelled by person"], ["b"]],
  ],
  ["an input after a failure begins a turn", [input("a"), fail, input("b")], [["a", "failure"], ["b"]]],
  ["pieces with one key are one answer", [input("a"), answer("k"), answer("k"), answer("l")], [["a", "k", "l"]]],
  [
    "an answer after a cancelled turn has its own",
    [input("a"), cancel, answer("k")],
    [
      ["a", "cancelled by person"],
      ["[No input was recorded.]", "k"],
    ],
  ],
  [
    "the first who cancels counts",
    [input("a"), cancel, (turns) => turns.cancel("other", AT)],
    [["a", "cancelled by person"]],
  ],
  ["nothing is cancelled before the first turn", [cancel, input("a")], [["a"]]],
  ["context joins an input without an answer", [input("a"), context("c"), answer("k")], [["a + c", "k"]]],
  ["context before the first input goes in front of it", [context("c"), input("a")], [["c + a"]]],
  [
    "context after an answer without calls goes in front of the next input",
    [input("a"), answer("k"), context("c"), input("b")],
    [["a", "k"], ["c + b"]],
  ],
  [
    "context between two answers begins a turn",
    [input("a"), answer("k"), context("c"), answer("l")],
    [
      ["a", "k"],
      ["c", "l"],
    ],
  ],
  [
    "context of a cancelled turn waits",
    [input("a"), answer("k"), call, cancel, context("c"), input("b")],
    [["a", "k", "cancelled by person"], ["c + b"]],
  ],
  ["context before the first answer is its input", [context("c"), answer("k")], [["c", "k"]]],
  ["a tentative input counts with its answer", [tentative("a"), answer("k")], [["a", "k"]]],
  ["a tentative input counts with its failure", [tentative("a"), fail, input("b")], [["a", "failure"], ["b"]]],
  ["a tentative input is dropped by the next", [tentative("a"), input("b")], [["b"]]],
  ["a tentative input is dropped by a tentative one", [tentative("a"), tentative("b"), answer("k")], [["b", "k"]]],
  ["a tentative input is dropped at the end", [input("a"), answer("k"), tentative("b")], [["a", "k"]]],
  [
    "what counts is not dropped",
    [input("a"), drop, answer("k"), tentative("b"), answer("l"), drop],
    [
      ["a", "k"],
      ["b", "l"],
    ],
  ],
  [
    "after a dropped one the turn before is open",
    [input("a"), answer("k"), tentative("b"), drop, answer("l")],
    [["a", "k", "l"]],
  ],
  ["a tentative input beside an open one joins it", [input("a"), tentative("b"), answer("k")], [["a + b", "k"]]],
  ["a tentative input cannot be cancelled", [tentative("a"), cancel, answer("k")], [["a", "k"]]],
  ["a summary is a part of its turn", [input("a"), answer("k"), compact, answer("l")], [["a", "k", "compaction", "l"]]],
  ["a summary before the first turn is input", [compact, input("a")], [["sum + a"]]],
  ["a summary replaces what waits", [context("c"), compact, input("a")], [["sum + a"]]],
  ["a summary drops a tentative input", [input("a"), answer("k"), tentative("b"), compact], [["a", "k", "compaction"]]],
  [
    "turns that are rolled back never happened",
    [input("a"), answer("k"), input("b"), answer("l"), back(1), answer("m")],
    [["a", "k", "m"]],
  ],
  ["rolling back more than there is leaves nothing", [input("a"), answer("k"), back(5), input("b")], [["b"]]],
  ["rolling back forgets what waits", [input("a"), answer("k"), context("c"), back(1), input("b")], [["b"]]],
  [
    "a tentative input does not count as rolled back",
    [input("a"), answer("k"), tentative("b"), back(1), input("c")],
    [["c"]],
  ],
];

describe("[S6] turns of a foreign conversation", () => {
  it.each(CASES)("%s", (_, steps, expected) => {
    const turns = new ForeignTurns();
    for (const step of steps) step(turns);
    expect(shape(turns)).toEqual(expected);
  });

  it("context joins the result of the last call", () => {
    const turns = new ForeignTurns();
    for (const step of [input("a"), answer("k"), call, context("c"), input("b")]) step(turns);
    const [first, second] = turns.end();
    const [part] = first?.parts ?? [];
    expect(part?.type === "answer" && lastCall(part)?.result?.content).toEqual([text("out"), text("c")]);
    expect(second?.input).toEqual([text("b")]);
  });

  it("times: an answer begins once and ends with its last piece, a turn where the file says", () => {
    const turns = new ForeignTurns();
    turns.input([text("a")], AT);
    turns.answer("k", "m", AT);
    turns.answer("k", "m", LATER);
    turns.answer("k", "m", undefined);
    expect(turns.lastAnswer).toMatchObject({ startedAt: AT, endedAt: LATER, model: "m" });
    turns.ended(LATER);
    expect(turns.turns[0]).toMatchObject({ at: AT, endedAt: LATER });
    turns.failure(failure("Internal", { detail: "x" }), LATER);
    expect(turns.lastAnswer).toBeUndefined();
    turns.cancel("person", AT);
    expect(turns.turns[0]?.endedAt).toBe(AT);
    new ForeignTurns().ended(AT);
  });

  it("the last call of an answer is the last block of that kind", () => {
    const one: ForeignCall = { type: "call", id: "1", tool: "t", args: {} };
    const turns = new ForeignTurns();
    const found = turns.answer("k", "m", AT);
    expect(lastCall(found)).toBeUndefined();
    found.blocks.push(one, { ...one, id: "2" }, text("x"));
    expect(lastCall(found)?.id).toBe("2");
  });
});

it.each([
  ["data:image/png;base64,aGk=", "image/png"],
  ["DATA:image/svg+xml;base64,aGk", "image/svg+xml"],
  ["data:image/png;base64,", undefined],
  ["data:image/png,aGk=", undefined],
  ["data:text/html;base64,aGk=", undefined],
  ["data:image/png;base64,a===", undefined],
  ["see data:image/png;base64,aGk=", undefined],
  ["https://h/a.png", undefined],
])("the picture of %s: %s", (url, type) => {
  const image = imageFromUrl(url);
  expect(image?.media_type).toBe(type);
  if (image !== undefined) expect(url.endsWith(`,${image.data}`)).toBe(true);
});
