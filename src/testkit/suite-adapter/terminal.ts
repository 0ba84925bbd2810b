/**
 * `sanitize_terminal`: text as shown to the user. It goes through the views of the terminal client, at every place that can show
 * untrusted text. The answer is the text of the first place that let a control character through, or else the model's text.
 */

import type { ToolBlock } from "../../clients/sdk/shown/tool-block.js";
import type { Block } from "../../clients/tui/content/block.js";
import { renderBlock } from "../../clients/tui/content/render-block.js";
import { createTheme, plainTheme } from "../../clients/tui/themes.js";
import { text as textContent } from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";

const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f]/;
/** Wide enough that no line wraps. */
const WIDE = 1_000_000;
const FLOOD = 20_000;

export function handleSanitizeTerminal({ text }: JsonObject): JsonObject {
  const sample = String(text ?? "");
  const isFlood = sample.length > FLOOD;
  for (const block of placesOf(sample)) {
    // For a very long text, each place shows what fits the screen. The answer is laid out below.
    const whole = isFlood ? [] : show(block);
    const glance = isFlood && block.kind === "answer" ? undefined : harmfulAtGlance(block);
    const harmful = whole.find((line) => CONTROL.test(line)) ?? glance;
    if (harmful !== undefined) return { text: harmful };
  }
  return { text: show({ kind: "answer", markdown: sample }).join("\n") };
}

function show(block: Block): readonly string[] {
  return renderBlock(block, { width: WIDE, theme: plainTheme, expanded: true, now: 0 });
}

const styledTheme = createTheme("dark", { colours: "16", links: true });
/** Matches what the theme itself writes. A link leads to the address that its text shows, and contains only printable ASCII. */
const OWN = /\x1b\[[\d;]+m|\x1b\]8;id=[\da-z]+;(?:https?:\/\/|mailto:)[\x21-\x7e]*\x1b\\|\x1b\]8;;\x1b\\/g;

/** With colours and links, in a narrow window. */
function harmfulAtGlance(block: Block): string | undefined {
  const lines = renderBlock(block, { width: 80, theme: styledTheme, expanded: false, now: 0 });
  return lines.map((line) => line.replace(OWN, "")).find((line) => CONTROL.test(line));
}

const CALL = "call_1" as CallId;

/** The model, a tool, a file, a name of a tool or command, an error, a person. */
function placesOf(sample: string): readonly Block[] {
  const part = sample.slice(0, FLOOD);
  return [
    { kind: "answer", markdown: sample },
    { kind: "answer", markdown: `\`\`\`${part}\n${part}\n\`\`\`\n| ${part} |\n|---|\n| ${part} |\n[${part}](${part})` },
    { kind: "thinking", text: sample, elapsedMs: 1000 },
    { kind: "prompt", text: sample, images: 0 },
    { kind: "command", line: sample, text: sample },
    { kind: "shell", command: sample, output: sample, exitCode: 1 },
    { kind: "notice", level: "warning", text: sample },
    { kind: "turn-end", outcome: "failed", elapsedMs: 1000, summary: sample, failure: sample },
    call("bash", { args: { command: sample }, output: sample, details: { exit_code: 1 } }),
    call("read", { args: { path: sample }, output: sample, details: { path: sample, first_line: 1, lines: 1 } }),
    call("edit", {
      args: { path: sample },
      output: sample,
      details: { path: sample, diff: `@@ -1,1 +1,1 @@\n-${sample}\n+${sample} x` },
    }),
    call(sample, { args: { [sample]: sample }, output: sample }),
    { kind: "tool", call: CALL, tool: "bash", args: { command: sample }, progress: sample, startedAt: 0 },
  ];
}

function call(
  tool: string,
  { args, output, details }: { args: JsonObject; output: string; details?: JsonObject },
): ToolBlock {
  const status = details?.exit_code === undefined ? "ok" : "error";
  const result = { status, content: [textContent(output)], endedAt: 0, ...(details && { details }) } as const;
  return { kind: "tool", call: CALL, tool, args, progress: "", startedAt: 0, result };
}
