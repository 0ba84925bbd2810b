import { describe, expect, it } from "vitest";
import { text } from "../protocol/content.js";
import { commandFailure, lastLines } from "./command-failure.js";

function result(output: string, details?: { exit_code: number | null; signal?: string | null }) {
  return commandFailure({ status: "error", content: [text(output)], details });
}

describe("commandFailure", () => {
  it("takes the exit code from the note, and leaves the note out of the output", () => {
    expect(result("one\ntwo\n[exit code 3]", { exit_code: 3 })).toEqual({ ending: "exit code 3", output: "one\ntwo" });
    const hinted = result("one\n[exit code 1]\nThe sandbox hides that folder.", { exit_code: 1 });
    expect(hinted).toEqual({ ending: "exit code 1", output: "one\nThe sandbox hides that folder." });
  });

  it("says what it knows without a note", () => {
    expect(result("fatal: no", { exit_code: 128 })?.ending).toBe("exit code 128");
    expect(result("", { exit_code: null, signal: "SIGSEGV" })?.ending).toBe("killed by SIGSEGV");
  });

  it("has nothing to say about tools that run no command, nor about success", () => {
    expect(result("There is no such file.")).toBeUndefined();
    expect(commandFailure({ status: "ok", content: [], details: { exit_code: 0 } })).toBeUndefined();
  });
});

describe("lastLines", () => {
  it("counts what it leaves out", () => {
    expect(lastLines("a\nb\nc\n", 2)).toBe("… 1 line before\nb\nc");
    expect(lastLines("a\nb", 2)).toBe("a\nb");
  });
});
