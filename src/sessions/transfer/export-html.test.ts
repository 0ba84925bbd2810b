import { createHash } from "node:crypto";
import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody } from "../../protocol/events.js";
import { exportHtml } from "./export-html.js";
import { HTML_PARTS, type HtmlPart } from "./html-parts.js";
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

async function page(
  events: readonly Envelope[],
  { record = RECORD, without = [] as HtmlPart[], redact = (words: string) => words } = {},
): Promise<string> {
  const options = { redactor: redactorOf(redact), without: new Set(without) };
  return (await collect(exportHtml(record, stream(events), options))).join("");
}

/** Every tag that the page is made of. */
const TAGS =
  /<!doctype html>|<\/?(?:html|head|body|main|title|header|h1|dl|dt|dd|div|p|pre|b|details|summary|span|h2|style)>|<html lang="en">|<meta charset="utf-8">|<meta name="[a-z]+" content="[a-z0-9=, -]+">|<meta http-equiv="Content-Security-Policy" content="[^"<>]+">|<h2 id="turn-\d+">|<(?:div|p|details|span) class="[a-z ]+">|<img alt="" src="data:image\/[a-z]+;base64,[A-Za-z0-9+/=]+">/g;

const ATTACKS = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "</pre></details></main><iframe src=//evil>",
  "</title></style><svg onload=alert(1)>",
  "<!--",
  "]]><a href=javascript:alert(1)>x</a>",
  "'onmouseover='alert(1)",
  "`${alert(1)}`",
  "```\n</pre><script>alert(1)</script>\n",
  "~~~x\n<b>\n~~~",
  "&lt;script&gt;&#60;",
  "\u202e\u2066gnp.exe\u0000\u001b[31m",
];

/** Each attack in each place that a model, a tool, a server, a file or an imported log fills. */
function attacked(evil: string): readonly Envelope[] {
  const args = { path: evil, [evil]: [evil, { deep: evil }] };
  const events = envelopes([
    {
      kind: "TurnStarted",
      payload: { turn: turn("F"), input: [text(evil), { type: "image", media_type: evil, data: "QUJD" }] },
    },
    { kind: "ThinkingDelta", payload: { text: evil } },
    { kind: "TextDelta", payload: { text: evil } },
    { kind: "ToolCallStarted", payload: { call: call("1"), tool: evil, args } },
    {
      kind: "ToolResult",
      payload: {
        ...{ call: call("1"), tool: evil, status: evil as never, details: { diff: `+${evil}\n-${evil}\n${evil}` } },
        content: [text(evil), { type: "image", media_type: "image/png", data: evil }],
      },
    },
    { kind: "ContextAdded", payload: { turn: turn("F"), source: evil, text: evil } },
    { kind: "CompactionTriggered", payload: { reason: evil, summary: evil } },
    {
      kind: "PermissionResolved",
      payload: { call: call("1"), tool: evil, decision: evil as never, decided_by: evil, message: evil },
    },
    { kind: "StreamGap", payload: { from: evil as never, to: evil as never, reason: evil } },
    { kind: "RerunBegan", payload: { of: evil as never, after: 1, from: evil as never } },
    { kind: "InputSteered", payload: { turn: turn("F"), input: [text(evil)], from: "cli_1" as never } },
    { kind: "Error", payload: { reason: "Internal", message: evil } },
    {
      kind: "TurnEnded",
      payload: {
        ...{ turn: turn("F"), outcome: evil as never, text: evil, iterations: evil as never, usage: usage(1, 1) },
        failure: { reason: "Internal", message: evil },
      },
    },
  ] as EventBody[]);
  return events.map((event) => ({ ...event, ts: evil }));
}

describe("a page for others", () => {
  verifies(["S12", "S6"], "has no markup but its own, wherever the text of others has some", async () => {
    for (const evil of ATTACKS) {
      const record = { ...RECORD, title: evil, cwd: evil, model: evil, created_at: evil, id: evil as never };
      const made = await page(attacked(evil), { record });
      const rest = made.replace(/<style>[\s\S]*?<\/style>/, "").replace(TAGS, "");
      expect(rest, evil).not.toMatch(/[<>]/);
      expect(rest, evil).not.toMatch(/[\u0000\u001b\u202e\u2066]/);
    }
  });

  verifies(["S12"], "allows no request and no script, and its style is the one that its policy names", async () => {
    const made = await page(sampleEvents());
    const style = /<style>([\s\S]*)<\/style>/.exec(made)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(made)?.[1]?.replaceAll("&#39;", "'");
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    expect(style).not.toMatch(/url|@import/);
    expect(made.indexOf("Content-Security-Policy")).toBeLessThan(made.indexOf("<title>"));
    expect(made).toContain("color-scheme:light dark");
  });

  verifies(["S12", "S4"], "hides secrets, and leaves out what the person names", async () => {
    const secret = ["hunter", "2hunter"].join("");
    const events = envelopes([
      {
        kind: "TurnStarted",
        payload: {
          turn: turn("F"),
          input: [text(`see ${secret}`), { type: "image", media_type: "image/png", data: "QUJD" }],
        },
      },
      { kind: "ThinkingDelta", payload: { text: "a thought" } },
      { kind: "ToolCallStarted", payload: { call: call("1"), tool: "bash", args: { command: "make all" } } },
      {
        kind: "ToolResult",
        payload: { call: call("1"), tool: "bash", status: "error", content: [text("the output")] },
      },
      { kind: "ContextAdded", payload: { turn: turn("F"), source: "a hook", text: "from the hook" } },
      { kind: "TextDelta", payload: { text: "done\n```ts\nconst x = 1;\n```\n" } },
      {
        kind: "TurnEnded",
        payload: { turn: turn("F"), outcome: "answered", text: "done", iterations: 2, usage: usage(1, 1) },
      },
    ]);
    const redact = (words: string) => words.replaceAll(secret, "«redacted»");
    const whole = await page(events, { redact });
    expect(whole).not.toContain(secret);
    const shown: Readonly<Record<HtmlPart, string>> = {
      thinking: "a thought",
      calls: "make all",
      results: "the output",
      images: "data:image/png;base64,QUJD",
      context: "from the hook",
      costs: "2 model calls",
      folder: "/home/ann/project",
    };
    for (const part of HTML_PARTS) {
      expect(whole).toContain(shown[part]);
      expect(await page(events, { redact, without: [part] }), part).not.toContain(shown[part]);
    }
    const little = await page(events, { without: [...HTML_PARTS] });
    expect(little).toContain("<pre>const x = 1;</pre>");
    expect(whole).toMatch(/<details class="call"><summary><b>bash<\/b> make all <span class="bad">error<\/span>/);
  });
});
