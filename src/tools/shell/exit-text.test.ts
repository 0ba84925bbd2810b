import { expect, it } from "vitest";
import type { ProcessEnd } from "../../system/process-group.js";
import { describeExit, exitNotes } from "./exit-text.js";

const end = (more: Partial<ProcessEnd>): ProcessEnd =>
  ({ reason: "exit", exitCode: 0, signal: undefined, leftovers: 0, survivors: 0, ...more }) as ProcessEnd;
const notes = (more: Partial<ProcessEnd>) => exitNotes(end(more), { durationMs: 2_000 });

it.each([
  [{ exitCode: 0 }, "exit code 0"],
  [{ exitCode: 1 }, "exit code 1"],
  [{ exitCode: 128 }, "exit code 128"],
  [{ exitCode: 129 }, "exit code 129 (SIGHUP)"],
  [{ exitCode: 137 }, "exit code 137 (SIGKILL)"],
  [{ exitCode: 255 }, "exit code 255"],
  [{ exitCode: undefined, signal: "SIGSEGV" }, "killed by SIGSEGV"],
] as const)("the end %j is described", (more, expected) => {
  expect(describeExit(end(more as Partial<ProcessEnd>))).toBe(expected);
});

it("notes say how a command ended and what became of its processes", () => {
  expect(notes({})).toEqual([]);
  expect(notes({ exitCode: 2 })).toEqual(["[exit code 2]"]);
  expect(notes({ reason: "timeout", exitCode: undefined })).toEqual([
    expect.stringMatching(/^\[timed out after 2(\.0)? ?s and was killed; set a longer timeout/),
  ]);
  expect(notes({ reason: "cancelled", exitCode: undefined })).toEqual([
    expect.stringContaining("it may have changed files"),
  ]);
  expect(notes({ leftovers: 1 })).toEqual([
    "[1 process was still running and ended with the command; use run_in_background to keep one]",
  ]);
  expect(notes({ leftovers: 2, survivors: 1 })).toEqual([
    "[2 processes were still running and ended with the command; use run_in_background to keep one]",
    "[1 of its processes could not be killed]",
  ]);
});
