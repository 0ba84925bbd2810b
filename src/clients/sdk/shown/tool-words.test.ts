import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { CallId } from "../../../protocol/ids.js";
import type { JsonObject } from "../../../protocol/json.js";
import type { ToolBlock } from "./tool-block.js";
import { argumentWords, resultWords } from "./tool-words.js";

const block = (tool: string, args: JsonObject, details?: JsonObject): ToolBlock => ({
  ...{ kind: "tool", call: "call_1" as CallId, tool, args, progress: "", startedAt: 0 },
  ...(details !== undefined && { result: { status: "ok", content: [], endedAt: 0, details } }),
});

describe("the line about a call", () => {
  verifies(["U2"], "shows the arguments of git as they would be typed", () => {
    const args = { command: "log", args: ["-n", "5", "--format=%h %s"] };
    expect(argumentWords(block("git", args))).toBe("log -n 5 '--format=%h %s'");
    expect(argumentWords(block("git", { action: "log", args: ["a b"] }))).toBe("log 'a b'");
    expect(argumentWords(block("git", { action: "status" }))).toBe("status");
  });

  verifies(["U2"], "shows the important arguments and counts by their own names, whatever the tool is called", () => {
    const table: readonly (readonly [
      args: JsonObject,
      details: JsonObject,
      words: string,
      counts: string | undefined,
    ])[] = [
      [{ path: "a.ts", offset: 3 }, { path: "a.ts", first_line: 3, lines: 2, total_lines: 9 }, "a.ts:3-4", "2 lines"],
      [{}, { path: ".", entries: 1 }, ".", "1 entry"],
      [{ path: "a.ts", content: "x" }, { path: "a.ts", created: true, added: 1, removed: 0 }, "a.ts", "created, +1 -0"],
      [{ path: "a.ts", edits: [{ old: "a", new: "b" }] }, { path: "a.ts", changed: false }, "a.ts", "no change"],
      [{ pattern: "x", path: "src", glob: "*.ts" }, { files: 1, matches: 2 }, "x src *.ts", "2 matches in 1 file"],
      [{ pattern: "*.ts" }, { files: 3 }, "*.ts", "3 files"],
      [{ patch: "*** Begin" }, { files: [{ path: "b", from: "a" }], added: 1, removed: 1 }, "a to b", "+1 -1"],
      [{ todos: [{ text: "x", status: "done" }] }, { todos: [], done: 1, total: 2 }, "", "1 of 2 done"],
      [
        { url: "https://x.example/", format: "raw" },
        { status: 200, bytes: 10 },
        "https://x.example/",
        "HTTP 200, 10 B",
      ],
      [{ command: "npm test", timeout: 5 }, { background_id: "bg1" }, "npm test", "in the background as bg1"],
      [{ questions: [{ question: "Red?" }] }, { answers: {} }, "Red?", undefined],
      [{ prompt: "Look at it", description: "a look", type: "explore" }, {}, "explore: a look", undefined],
      [{ path: "a.ts", recursive: true }, { server: "fs" }, "a.ts recursive=true", undefined],
      [{ id: 7, state: "open" }, { server: "tracker" }, "id=7 state=open", undefined],
    ];
    for (const [args, details, words, counts] of table) {
      const shown = block("any_tool", args, details);
      expect([argumentWords(shown), resultWords(shown)], JSON.stringify(args)).toEqual([words, counts]);
    }
  });
});
