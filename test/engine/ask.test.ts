/** The tool `ask`: who answers, what the model gets, and what Oxbow tells it where no one can. */
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { EventPayloads } from "../../src/protocol/events.js";
import { ExtendedEngine, resultsOf } from "../support/extended-engine.js";
import { verifies } from "../verifies.js";

let engine: ExtendedEngine;
beforeEach(() => {
  engine = new ExtendedEngine();
});
afterEach(() => engine.close());

const QUESTION = { question: "Which store?", options: ["SQLite", "files"] };
const call = (args: object, tool = "ask") => `reply\n  tool ${tool} ${JSON.stringify(args)}\nreply\n  text: Done.\n`;

type Asked = EventPayloads["PermissionRequested"];
type Given = { readonly decision: "allow_once" | "deny"; readonly message?: string };

/** A turn in which a person answers each question in turn. */
async function answered(script: string, answers: readonly Given[]) {
  await engine.open(script, { user: "present", flags: ["--permission-mode", "ask"] });
  const asked: Asked[] = [];
  const left = [...answers];
  engine.client.subscribe((event) => {
    if (event.kind !== "PermissionRequested") return;
    asked.push(event.payload);
    const next = left.shift() ?? { decision: "deny" as const };
    void engine.client.send("AnswerPermission", { call: event.payload.call, ...next }, engine.session);
  });
  const [result = ""] = resultsOf(await engine.turn("go"));
  return { asked, result };
}

describe("[T12] the tool ask", () => {
  verifies(
    ["T12"],
    "shows a form with the options and a line for other words, and gives the answers to the model",
    async () => {
      const questions = [
        QUESTION,
        { question: "Which tests?", options: ["unit", "e2e"], several: true },
        { question: "Why?" },
      ];
      const message = JSON.stringify({
        answer_1: "files",
        answer_2: ["unit", "e2e"],
        answer_2_otherwise: "later load",
        answer_3: "speed",
      });
      const { asked, result } = await answered(call({ questions }), [{ decision: "allow_once", message }]);
      expect(asked.map(({ form = [] }) => form.map(({ name, kind }) => `${name} ${kind}`))).toEqual([
        ["answer_1 one", "answer_1_otherwise text", "answer_2 some", "answer_2_otherwise text", "answer_3 text"],
      ]);
      expect(asked[0]?.reason).toBe("1. Which store?  2. Which tests?  3. Why?");
      expect(result).toBe(
        "ok: The user answered:\nWhich store?\n→ files\nWhich tests?\n→ unit; e2e; in their words: later load\nWhy?\n→ speed",
      );
      // It is not text from outside.
      expect(engine.requests.at(-1)).toContain('"text":"The user answered:');
    },
  );

  verifies(["T12"], "asks again for a value that is no option, and never sends one", async () => {
    const { asked, result } = await answered(call({ questions: [QUESTION] }), [
      { decision: "allow_once", message: '{"answer_1": "Oracle"}' },
      { decision: "allow_once", message: '{"answer_1_otherwise": "PostgreSQL"}' },
    ]);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.reason).toMatch(/^Which store\? must be one of SQLite, files\./);
    expect(result).toBe("ok: The user answered:\nWhich store?\n→ in their words: PostgreSQL");
  });

  verifies(["T12"], "asks three times at most, and says what to assume", async () => {
    const wrong = { decision: "allow_once", message: '{"answer_1": "Oracle"}' } as const;
    const { asked, result } = await answered(call({ questions: [QUESTION] }), [wrong, wrong, wrong, wrong]);
    expect(asked).toHaveLength(3);
    expect(result).toMatch(
      /^error: The user's answer did not fit: Which store\? must be one of .* Assume your first option/,
    );
  });

  verifies(["T12"], "passes on a refusal, and what to assume", async () => {
    const { result } = await answered(call({ questions: [QUESTION] }), [{ decision: "deny", message: "not now" }]);
    expect(result).toBe(
      'error: The user does not want to answer. They said: not now Do not ask this again. Assume your first option ("SQLite"), go on, and say in your answer what you assumed.',
    );
  });

  verifies(["T12", "U1"], "is refused at once where no person can answer", async () => {
    const script = call({ questions: [{ question: "Which store?" }] });
    await engine.open(`${script.replace("tool ask", "tool AskUserQuestion")}${script}loop\n`);
    const refused =
      "error: No person can answer here. Assume what is safest and easiest to undo, go on, and say in your answer what you assumed.";
    expect(resultsOf(await engine.turn("go")), "by the name that other harnesses use").toEqual([refused]);
    const events = await engine.turn("go");
    expect(resultsOf(events)).toEqual([refused]);
    expect(events.at(-1)?.payload).toMatchObject({ outcome: "answered" });
    expect(events.some(({ kind }) => kind === "PermissionRequested")).toBe(false);
  });
});
