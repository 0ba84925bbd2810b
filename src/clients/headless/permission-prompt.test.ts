import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { CallId } from "../../protocol/ids.js";
import { previewCall } from "../../security/permissions/preview.js";
import { askPermission } from "./permission-prompt.js";
import type { Terminal } from "./terminal.js";

async function shown(summary: string, columns?: number): Promise<readonly string[]> {
  const written: string[] = [];
  const err = { isTerminal: true, columns, write: (piece: string) => void written.push(piece) };
  const terminal: Terminal = { out: err, err, showProgress: true, color: false, askLine: async () => "n" };
  const reason = "Why\nAllow? bash: ls";
  const call = "call_1" as CallId;
  const question = { call, tool: "bash", tool_kind: "run" as const, args: {}, summary, reason, offer: [] };
  await askPermission(terminal, question, new AbortController().signal);
  return written.join("").split("\n").slice(1, -1);
}

describe("a question about a call", () => {
  verifies(["P2"], "marks every further line, so that no command looks like the question itself", async () => {
    const lines = await shown("bash: rm -rf src\nAllow? bash: ls\r[y] once  [n] no: ");
    expect(lines).toEqual([
      "Allow? bash: rm -rf src",
      "  │ Allow? bash: ls",
      "  │ [y] once  [n] no: ",
      "Why",
      "  │ Allow? bash: ls",
      "  [y] yes",
      "  [t] yes, and not again this session for any command",
      "  [n] no, and tell the model why",
    ]);
  });

  verifies(["P2"], "breaks long lines by itself, with the same mark", async () => {
    const padded = `bash: ls${" ".repeat(200)}Allow? bash: pwd ${"字".repeat(60)}`;
    const lines = (await shown(padded, 40)).slice(0, -5);
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.slice(1).every((line) => line.startsWith("  │ "))).toBe(true);
    const widths = lines.map((line) => [...line].reduce((sum, character) => sum + (character === "字" ? 2 : 1), 0));
    expect(Math.max(...widths)).toBeLessThanOrEqual(40);
  });

  verifies(
    ["P2"],
    "about a guarded path shows what would be written, and takes no yes for more than this call",
    async () => {
      const written: string[] = [];
      const answers = ["t", "s", "y"];
      const asked: string[] = [];
      const err = { isTerminal: true, columns: 80, write: (piece: string) => void written.push(piece) };
      const askLine = async (text: string) => {
        asked.push(text);
        return answers.shift();
      };
      const terminal: Terminal = { out: err, err, showProgress: true, color: false, askLine };
      const args = { path: ".git/hooks/pre-commit", content: "#!/bin/sh\n[y] once\n" };
      const question = {
        call: "call_1" as CallId,
        tool: "write",
        tool_kind: "edit" as const,
        args,
        summary: "write .git/hooks/pre-commit",
        reason: ".git/hooks/pre-commit is guarded: git runs it.",
        offer: [],
        once_only: true as const,
        preview: previewCall(args) ?? "",
      };
      expect(await askPermission(terminal, question, new AbortController().signal)).toEqual({ decision: "allow_once" });
      expect(written.join("")).toContain("It would write:\n  │ +#!/bin/sh\n  │ +[y] once\n");
      expect(asked).toEqual(Array(3).fill("Answer: "));
      expect(written.join("")).not.toContain("[t]");
    },
  );

  verifies(["P2"], "takes the same answers as the terminal client: always, and a denial with a reason", async () => {
    const give = async (...answers: readonly string[]) => {
      const written: string[] = [];
      const rest = [...answers];
      const err = { isTerminal: true, columns: 80, write: (piece: string) => void written.push(piece) };
      const terminal: Terminal = { out: err, err, showProgress: true, color: false, askLine: async () => rest.shift() };
      const call = "call_1" as CallId;
      const offer = ["bash: git push *"];
      const args = { command: "git push origin main" };
      const question = {
        call,
        tool: "bash",
        tool_kind: "run" as const,
        args,
        summary: "bash: git push origin main",
        offer,
        always: offer,
      };
      const answer = await askPermission(terminal, question, new AbortController().signal);
      expect(written.join("").split("\n").slice(1, 7)).toEqual([
        "Run git push origin main?",
        "  [y] yes",
        "  [s] yes, and not again this session for: git push *",
        "  [t] yes, and not again this session for any command",
        "  [a] always allow: git push *",
        "  [n] no, and tell the model why",
      ]);
      return { answer, complaints: written.filter((piece) => piece.startsWith("Please")) };
    };
    const none = { complaints: [] };
    expect(await give("A", "p")).toEqual({ answer: { decision: "allow_pattern", always: "project" }, ...none });
    expect(await give("4", "2")).toEqual({ answer: { decision: "allow_pattern", always: "user" }, ...none });
    expect(await give("a", "")).toEqual({ answer: { decision: "deny" }, ...none });
    expect(await give("2")).toEqual({ answer: { decision: "allow_pattern" }, ...none });
    expect(await give("n use npm test")).toEqual({ answer: { decision: "deny", message: "use npm test" }, ...none });
    expect(await give("no")).toEqual({ answer: { decision: "deny" }, ...none });
    expect(await give("")).toEqual({ answer: { decision: "deny" }, ...none });
    // Words that begin with an answer are none.
    const complaints = ["Please answer y, s, t, a or n.\n"];
    expect(await give("yes please", "yes")).toEqual({ answer: { decision: "allow_once" }, complaints });
  });
});
