import { expect, it } from "vitest";
import type { Envelope } from "../../protocol/envelope.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { TurnMarkdown } from "./turn-markdown.js";

const text = (words: string) => [{ type: "text", text: words }];

function writer(lastTurn = 0) {
  const turns = new TurnMarkdown((words) => words.replaceAll("swordfish", "…"), lastTurn);
  let id = 0;
  const take = (...events: readonly (readonly [string, object])[]) =>
    events.map(([kind, payload]) => turns.take({ id: ++id, kind, payload } as unknown as Envelope)).join("");
  return { turns, take };
}

const start = (words: string) => ["TurnStarted", { turn: "t", input: text(words) }] as const;
const delta = (words: string) => ["TextDelta", { text: words }] as const;
const answered = ["AnswerEnded", { turn: "t", provider: "p", model: "m", stop: "end" }] as const;
const ended = (more: object = {}) =>
  [
    "TurnEnded",
    {
      turn: "t",
      outcome: "answered",
      text: "",
      iterations: 1,
      usage: { ...NO_USAGE, input: 1_200, output: 3 },
      ...more,
    },
  ] as const;
const call = (args: object) => ["ToolCallStarted", { call: "c1", tool: "bash", args }] as const;
const result = (words: string, name = "c1") =>
  ["ToolResult", { call: name, tool: "bash", status: "ok", content: text(words) }] as const;

it("writes a turn from its input to its outcome, redacted", () => {
  const { turns, take } = writer(4);
  expect(take(delta("before any turn"), ended())).toBe("");
  const written = take(
    start("Look, swordfish."),
    delta("I lo"),
    delta("ok."),
    ["ThinkingDelta", { text: "hm" }],
    call({ command: "ls" }),
    result("a.txt"),
    result("b.txt", "c9"),
    ["ContextAdded", { source: "store", text: "added" }],
    ["InputSteered", { input: text("rather that") }],
    ["PermissionResolved", { tool: "bash", decision: "allow_once", decided_by: "rule" }],
    ["PermissionResolved", { tool: "bash", decision: "deny", decided_by: "person" }],
    delta("Done."),
    answered,
    ended({ iterations: 2, truncated: true, failure: { message: "It failed." } }),
  );
  expect(written).toBe(
    `### Turn 5

> Look, ….

I look.

**Call 1: \`bash\`** \`ls\`

**Result 1: ok**

    a.txt

**Result \`bash\`: ok**

    b.txt

> store:
> added

> rather that

*Permission for bash: allowed (rule)*

*Permission for bash: denied (person)*

Done.

*The answer was cut off at the model's output limit.*

> It failed.

*answered · 2 model calls · 1,200 in, 3 out · p:m*

`,
  );
  expect([turns.turn, take(delta("after"), ended())]).toEqual([5, ""]);
  // Nothing of one turn stays for the next: not its calls, not its models.
  expect(take(start(""), call({ a: 1, b: "x" }), ended())).toBe(
    "### Turn 6\n\n**Call 1: `bash`** `a=1 b=x`\n\n*answered · 1 model call · 1,200 in, 3 out*\n\n",
  );
});

it("says once that a turn has no end, in the log or in the recording", () => {
  const { turns, take } = writer();
  expect(turns.end()).toBe("");
  take(start("one"), delta("half"));
  expect(take(start("two"))).toBe("half\n\n*This turn has no end in the log.*\n\n### Turn 2\n\n> two\n\n");
  take(delta("so far"));
  expect(turns.end()).toBe("so far\n\n*The recording stopped before the turn ended.*\n\n");
  expect([turns.end(), take(delta("late"), ended())]).toEqual(["", ""]);
  take(start("three"), delta("half"), ["AnswerRetracted", { turn: "t", reason: "Overloaded" }]);
  expect(turns.end()).toBe("*The recording stopped before the turn ended.*\n\n");
});

it("shows the beginning of long results and arguments", () => {
  const shown = (words: string) => {
    const { take } = writer();
    take(start("go"), call({}));
    return take(result(words));
  };
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `${at}`).join("\n");
  expect(shown(lines(10))).not.toContain("more");
  expect(shown(lines(11))).toContain("\n    9\n    … 1 more line\n");
  expect(shown(lines(1_012))).toContain("\n    9\n    … 1,002 more lines\n");
  expect(shown("")).toBe("**Result 1: ok**\n\n");
  expect(shown("x".repeat(1_000))).not.toContain("…");
  expect(shown("x".repeat(1_001))).toContain(`${"x".repeat(1_000)}…\n`);
  // A pair of surrogates is not parted.
  expect(shown(`${"x".repeat(999)}😀y`)).toContain(`${"x".repeat(999)}…\n`);
  expect(shown(`${"x".repeat(998)}😀y`)).toContain("😀…\n");
  const { take } = writer();
  take(start("go"));
  expect(take(call({ command: "y".repeat(201) }))).toContain(`${"y".repeat(200)}…`);
  expect(take(call({}))).toBe("**Call 2: `bash`**\n\n");
});
