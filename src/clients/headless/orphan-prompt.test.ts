import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { failure } from "../../protocol/errors.js";
import { askAboutOrphans } from "./orphan-prompt.js";
import type { Terminal } from "./terminal.js";

const ORPHANED = failure("OrphanedCalls", { calls: "bash 'rm -r build' was running" });

/** A person who types these lines, and leaves after the last. */
async function answered(...lines: readonly string[]) {
  const left = [...lines];
  let shown = "";
  const write = (text: string) => {
    shown += text;
  };
  const terminal = { err: { write }, askLine: async () => left.shift() } as unknown as Terminal;
  return { answer: await askAboutOrphans(terminal, ORPHANED), shown, left };
}

describe("the question about a call without a recorded end", () => {
  verifies(["S3"], "names the call and takes the answer with a note", async () => {
    const { answer, shown } = await answered("S", " the folder is gone ");
    expect(answer).toEqual({ verdict: "succeeded", note: "the folder is gone" });
    expect(shown).toContain("bash 'rm -r build' was running");
    // Who is asked needs no flags.
    expect(shown).not.toContain("--orphan");
    expect((await answered("failed", "")).answer).toEqual({ verdict: "failed" });
  });

  verifies(["S3"], "is asked again until the answer is one, and an end of input decides nothing", async () => {
    const { answer, shown, left } = await answered("yes", "", "a", "never read");
    expect(answer).toEqual({ verdict: "abort" });
    expect(shown.match(/Please answer/g)).toHaveLength(2);
    expect(left).toEqual(["never read"]);
    expect((await answered()).answer).toEqual({ verdict: "abort" });
  });
});
