/** Blocks of every kind, for the tests of the views. */
import { diffText } from "../../../base/diff.js";
import { text } from "../../../protocol/content.js";
import type { ToolStatus } from "../../../protocol/events.js";
import type { CallId } from "../../../protocol/ids.js";
import type { JsonObject } from "../../../protocol/json.js";
import type { ToolBlock } from "../../sdk/shown/tool-block.js";
import type { Block } from "./block.js";

export const NOW = 100_000;

interface Sample {
  readonly tool: string;
  readonly args: JsonObject;
  readonly status?: ToolStatus;
  readonly output?: string;
  readonly details?: JsonObject;
  readonly progress?: string;
  readonly children?: readonly ToolBlock[];
}

function toolBlock({ tool, args, status, output = "", details, progress = "", children }: Sample): ToolBlock {
  const ended = { content: [text(output)], endedAt: NOW - 4000, ...(details && { details }) };
  return {
    kind: "tool",
    call: "call_1" as CallId,
    tool,
    args,
    progress,
    startedAt: NOW - 12_000,
    ...(status && { result: { status, ...ended } }),
    ...(children && { children }),
  };
}

const BEFORE = `import { a } from "./a.js";

export function total(items: readonly number[]): number {
  let sum = 0;
  for (const item of items) sum += item;
  return sum;
}
`;
const AFTER = `import { a, b } from "./a.js";

export function total(items: readonly number[]): number {
  const start = b(0);
  return items.reduce((sum, item) => sum + item, start);
}
`;

export const ANSWER = `# What I changed

The function **total** now uses \`reduce\`, see [the documentation](https://example.org/docs/reduce?lang=en) and
https://example.org/a/very/long/path/that/does/not/fit/into/forty/columns/index.html.

- first item with *emphasis* and enough words to need a second line
  - nested item
- [x] tests
- [ ] docs

1. Run the tests:
   \`\`\`sh
   npm test -- src/clients/tui # a comment
   \`\`\`
2. 日本語のテキストも折り返します。絵文字 👩‍👩‍👧‍👦 と結合文字 é も。

| File | Lines | Result |
| :--- | ---: | :---: |
| src/total.ts | 12 | passed |
| src/total.test.ts | 1,204 | failed with a message that is longer than the others |

> A quote of two lines.
> The second.

\`\`\`ts
export const answer: number = 42; // the answer
\`\`\`
`;

const { text: diff, added, removed } = diffText(BEFORE, AFTER);
const OUTPUT = Array.from({ length: 30 }, (_, index) => `line ${index + 1} of the output`).join("\n");

export const SAMPLES: Readonly<Record<string, Block>> = {
  prompt: { kind: "prompt", text: "Make total() shorter.\nKeep its name.", images: 1 },
  "steered prompt": { kind: "prompt", text: "Use reduce.", images: 0, steered: true },
  "long prompt": { kind: "prompt", text: OUTPUT, images: 0 },
  answer: { kind: "answer", markdown: ANSWER },
  thinking: { kind: "thinking", text: "The loop can be a reduce.", elapsedMs: 3200 },
  "open thinking": { kind: "thinking", text: "The loop" },
  "running command": toolBlock({ tool: "bash", args: { command: "npm test" }, progress: `${OUTPUT}\n` }),
  "command that went well": toolBlock({
    tool: "bash",
    args: { command: "npm test" },
    status: "ok",
    output: OUTPUT,
    details: { exit_code: 0, signal: null, duration_ms: 8000 },
  }),
  "failed command": toolBlock({
    tool: "bash",
    args: { command: "npm run build &&\n  npm test" },
    status: "error",
    output: `${OUTPUT}\n[exit code 2]`,
    details: { exit_code: 2, signal: null, duration_ms: 300 },
  }),
  "denied command": toolBlock({
    tool: "bash",
    args: { command: "rm -rf build" },
    status: "denied",
    output: "The user denied this call: use git clean instead.",
  }),
  read: toolBlock({
    tool: "read",
    args: { path: "src/total.ts", offset: 40 },
    status: "ok",
    output: "40\ta",
    details: { path: "src/total.ts", size: 9000, first_line: 40, lines: 120, total_lines: 300 },
  }),
  grep: toolBlock({
    tool: "grep",
    args: { pattern: "total\\(", path: "src" },
    status: "ok",
    output: "src/total.ts\n3:export function total(",
    details: { path: "src", pattern: "total\\(", mode: "content", files: 3, matches: 1204, shown: 200 },
  }),
  ls: toolBlock({ tool: "ls", args: {}, status: "ok", output: "a", details: { path: ".", entries: 1, left_out: 0 } }),
  edit: toolBlock({
    tool: "edit",
    args: { path: "src/total.ts", edits: [] },
    status: "ok",
    output: "Edited src/total.ts",
    details: { path: "src/total.ts", created: false, replacements: 2, added, removed, diff },
  }),
  "failed edit": toolBlock({
    tool: "edit",
    args: { path: "src/total.ts", edits: [] },
    status: "error",
    output: "The quoted text is not in src/total.ts. The nearest lines are 3-7.",
  }),
  "long write": toolBlock({
    tool: "write",
    args: { path: "src/output.txt", content: OUTPUT },
    status: "ok",
    output: "Created src/output.txt: 30 lines.",
    details: {
      path: "src/output.txt",
      created: true,
      changed: true,
      added: 30,
      removed: 0,
      diff: diffText("", OUTPUT).text,
    },
  }),
  "patch of two files": toolBlock({
    tool: "apply_patch",
    args: { patch: "*** Begin Patch" },
    status: "ok",
    output: "Patch applied:",
    details: {
      added: added + 1,
      removed,
      files: [
        { path: "src/total.ts", kind: "changed", added, removed, diff },
        {
          path: "src/b.ts",
          kind: "added",
          added: 1,
          removed: 0,
          diff: diffText("", "export const b = (x: number) => x;\n").text,
        },
      ],
    },
  }),
  todo: toolBlock({
    tool: "todo",
    args: { todos: [] },
    status: "ok",
    output: "[x] read",
    details: {
      done: 1,
      total: 3,
      todos: [
        { text: "Read the function", status: "done" },
        { text: "Replace the loop by a call of reduce, and say in the comment why", status: "in_progress" },
        { text: "Run the tests", status: "pending" },
      ],
    },
  }),
  "nested calls": toolBlock({
    tool: "task",
    args: { prompt: "Look for callers of total" },
    children: [
      toolBlock({
        tool: "grep",
        args: { pattern: "total" },
        status: "ok",
        details: { files: 2, matches: 7, mode: "content" },
      }),
      toolBlock({ tool: "bash", args: { command: "git log -3" }, progress: "commit 1\n" }),
    ],
  }),
  command: { kind: "command", line: "/status", text: "model   large\nmode    ask" },
  "failed slash command": {
    kind: "command",
    line: "/modle",
    text: "There is no command /modle. Did you mean /model?",
    failed: true,
  },
  shell: { kind: "shell", command: "make check", output: OUTPUT, exitCode: 1 },
  "shell, not for the model": { kind: "shell", command: "date", output: "today", unshared: true },
  notice: { kind: "notice", level: "info", text: "conversation shortened: 182k → 20k tokens" },
  retry: { kind: "notice", level: "warning", text: "The provider is overloaded. The next attempt is in 8 s." },
  failover: { kind: "notice", level: "error", text: "anthropic:large → openai:small: the key was refused (401)." },
  "end of turn": {
    kind: "turn-end",
    outcome: "answered",
    elapsedMs: 6200,
    summary: "1,204 in (80% cached) · 56 out · 6.2 s · $0.0045",
  },
  "cancelled turn": { kind: "turn-end", outcome: "cancelled", elapsedMs: 6200, summary: "6.2 s" },
  "failed turn": {
    kind: "turn-end",
    outcome: "failed",
    elapsedMs: 900,
    summary: "0.9 s",
    failure: "The key was refused (401).",
  },
};
