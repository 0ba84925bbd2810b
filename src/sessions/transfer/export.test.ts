import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { text } from "../../protocol/content.js";
import type { EventBody } from "../../protocol/events.js";
import { fenced } from "../markdown.js";
import { redactEvents } from "../redacted-events.js";
import { exportJsonl } from "./export-jsonl.js";
import { exportMarkdown } from "./export-markdown.js";
import {
  call,
  collect,
  envelopes,
  RECORD,
  redactorOf,
  sampleEvents,
  stream,
  turn,
  usage,
} from "./test-support/sample.js";

const plain = { redactor: redactorOf((words) => words) };
const SECRET = ["hunter", "2hunter"].join("");
const hiding = { redactor: redactorOf((words) => words.replaceAll(SECRET, "«redacted»")) };

async function markdown(bodies: readonly EventBody[], options = plain): Promise<string> {
  return (await collect(exportMarkdown(RECORD, stream(envelopes(bodies)), options))).join("");
}

const started = (words: string): EventBody => ({
  kind: "TurnStarted",
  payload: { turn: turn("F"), input: [text(words)] },
});

describe("export as JSON lines", () => {
  verifies(["S6"], "is a header and one envelope a line", async () => {
    const events = sampleEvents();
    const lines = await collect(exportJsonl({ ...RECORD, last_event: events.length }, stream(events), plain));
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      oxbow: "session",
      version: 1,
      id: RECORD.id,
      log: RECORD.log,
      cwd: "/home/ann/project",
      provider: "anthropic",
      model: "some-model",
      created_at: "2026-03-01T10:00:00.000Z",
      title: "Count the files",
      last_event: events.length,
    });
    expect(lines.slice(1).map((line) => JSON.parse(line))).toEqual(events);
    expect(lines[1]).toMatch(
      /^\{"id":1,"kind":"TurnStarted","session":"sess_\w+","originator":"cli_\w+","ts":"[^"]+","payload":/,
    );
    expect(lines.every((line) => !line.includes("\n"))).toBe(true);
  });

  verifies(["S6", "S4"], "hides secrets in every text, also when deltas cut them", async () => {
    const events = envelopes([
      started(`it is ${SECRET}`),
      { kind: "ThinkingDelta", payload: { text: SECRET } },
      { kind: "TextDelta", payload: { text: `a ${SECRET.slice(0, 4)}` } },
      { kind: "TextDelta", payload: { text: `${SECRET.slice(4)} b` } },
      { kind: "ToolCallStarted", payload: { call: call("H"), tool: "bash", args: { a: [{ b: SECRET }] } } },
      {
        kind: "ToolResult",
        payload: { call: call("H"), tool: "bash", status: "ok", content: [text(SECRET)], details: { diff: SECRET } },
      },
      {
        kind: "TurnEnded",
        payload: { turn: turn("F"), outcome: "answered", text: SECRET, iterations: 1, usage: usage(1, 1) },
      },
    ]);
    const record = { ...RECORD, title: SECRET, cwd: `/home/${SECRET}` };
    const lines = await collect(exportJsonl(record, stream(events), hiding));
    expect(lines.join("\n")).not.toContain(SECRET);
    const deltas = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "TextDelta");
    expect(deltas.map(({ payload }) => payload.text)).toEqual(["a «redacted» b", ""]);
    expect((await collect(exportMarkdown(record, stream(events), hiding))).join("")).not.toContain(SECRET);
  });

  it("leaves what a provider wants back as it is, and deltas that hide nothing", async () => {
    const events = envelopes([
      started("x"),
      { kind: "ThinkingDelta", payload: { text: "a", provider: "anthropic", opaque: { signature: SECRET } } },
      { kind: "TextDelta", payload: { text: "one " } },
      { kind: "TextDelta", payload: { text: "two" } },
    ]);
    expect(await collect(redactEvents(stream(events), hiding.redactor))).toEqual(events);
  });
});

describe("export as Markdown", () => {
  verifies(["S6"], "is a transcript with numbered turns", async () => {
    const document = (await collect(exportMarkdown(RECORD, stream(sampleEvents()), plain))).join("");
    const parts = [
      "# Count the files\n",
      "- Model: anthropic some-model\n",
      "### Turn 1\n",
      "> how many files?",
      "<details>\n<summary>Thinking</summary>\n\n```text\nI will count.\n```\n\n</details>",
      "**Assistant**\n\nLet me look.\n",
      '**Call** `bash`\n\n```json\n{\n  "command": "ls | wc -l"\n}\n```',
      "**Result** of `bash`: ok\n\n```text\n3\n```",
      "**Result** of `bash`: error",
      "There are three.\n",
      "*answered · 2 model calls · 10 in · 5 out · 15.0 s",
      "### Turn 2\n",
      "<summary>Summary</summary>\n\n```text\nThere are three files.\n```",
      "*Error: closed*",
      "*cancelled · 1 model call",
    ];
    let at = 0;
    for (const part of parts) {
      const found = document.indexOf(part, at);
      expect(found, part).toBeGreaterThanOrEqual(at);
      at = found + part.length;
    }
  });

  verifies(["S6"], "keeps every text inside its block", async () => {
    const trap = "````\n### Turn 9\n</details>\n> x";
    const document = await markdown([
      started(`a\n### Turn 7\n\n# b`),
      { kind: "ThinkingDelta", payload: { text: trap } },
      { kind: "TextDelta", payload: { text: "look:\n```js\nlet open = 1;" } },
      { kind: "ToolCallStarted", payload: { call: call("H"), tool: "ba`sh\n#", args: { text: trap } } },
      { kind: "ToolResult", payload: { call: call("H"), tool: "bash", status: "ok", content: [text(trap)] } },
      { kind: "Error", payload: { reason: "Internal", message: "*a*\n### Turn 8 <!--" } },
      {
        kind: "TurnEnded",
        payload: { turn: turn("F"), outcome: "failed", text: "", iterations: 1, usage: usage(1, 1) },
      },
    ]);
    // What a reader of Markdown sees outside of fences.
    let fence: string | undefined;
    const outside: string[] = [];
    for (const line of document.split("\n")) {
      const mark = /^(`{3,})(.*)$/.exec(line);
      if (fence === undefined && mark !== null) fence = mark[1];
      else if (fence !== undefined && mark?.[2] === "" && (mark[1]?.length ?? 0) >= fence.length) fence = undefined;
      else if (fence === undefined) outside.push(line);
    }
    expect(fence).toBeUndefined();
    expect(outside.filter((line) => line.startsWith("#"))).toEqual(["# Count the files", "### Turn 1"]);
    expect(outside.filter((line) => line.startsWith("</details>"))).toHaveLength(1);
    expect(outside).toContain("> ### Turn 7");
    expect(outside.join("\n")).toContain("*Error: \\*a\\* ### Turn 8 \\<!--*");
  });

  it("shows the beginning and the end of a long result and says what is missing", async () => {
    const output = `begin${"x".repeat(50_000)}end`;
    const document = await markdown([
      started("go"),
      { kind: "ToolCallStarted", payload: { call: call("H"), tool: "bash", args: {} } },
      { kind: "ToolResult", payload: { call: call("H"), tool: "bash", status: "ok", content: [text(output)] } },
    ]);
    expect(document.length).toBeLessThan(5000);
    expect(document).toMatch(
      /begin[\s\S]*46,008 characters cut here: the JSON lines export has all of it[\s\S]*end\n```/,
    );
  });

  it("shows what has come of an answer that is still being written", async () => {
    expect(await markdown([started("go"), { kind: "TextDelta", payload: { text: "half an ans" } }])).toContain(
      "**Assistant**\n\nhalf an ans\n",
    );
  });
});

describe("Markdown", () => {
  it("fences any text, and closes what an answer left open", async () => {
    expect(fenced("a ``` b", "text")).toBe("````text\na ``` b\n````");
    for (const [open, closing] of [
      ["~~~~\nx\n~~~", "~~~~"],
      ["<pre>\nx", "</pre>"],
      ["<!-- x", "-->"],
    ]) {
      const document = await markdown([started("go"), { kind: "TextDelta", payload: { text: `${open}` } }]);
      expect(document).toContain(`**Assistant**\n\n${open}\n${closing}\n`);
    }
  });
});
