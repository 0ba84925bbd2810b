import { describe, expect, it } from "vitest";
import { parseFlags } from "../../commands/flags.js";
import type { SessionMode } from "../../protocol/events.js";
import { RUN_FLAGS } from "../commands/run-flags.js";
import { resuming } from "./attach-flags.js";

describe("a client that continues the session of an engine that has ended", () => {
  const cases: readonly (readonly [
    given: string[],
    had: SessionMode | undefined,
    mode: string | undefined,
    plan: boolean,
  ])[] = [
    [[], "ask", "ask", false],
    [[], "deny", "deny", false],
    [[], "allow", undefined, false],
    [["--permission-mode", "allow"], "allow", "allow", false],
    [["--permission-mode", "allow"], "ask", "ask", false],
    [["--plan"], "auto", "auto", false],
    [["--permission-mode", "allow"], "plan", undefined, true],
    [["--permission-mode", "ask"], undefined, "ask", false],
    [["--plan"], undefined, undefined, true],
  ];
  it.each(cases)("with the flags %j resumes a session in mode %s", (given, mode, permissionMode, plan) => {
    const flags = resuming(parseFlags(RUN_FLAGS, given, "run"), { session: "sess_1", mode });
    expect([flags.text("permission-mode"), flags.has("permission-mode"), flags.has("plan")]).toEqual([
      permissionMode,
      permissionMode !== undefined,
      plan,
    ]);
    expect([flags.text("resume"), flags.has("resume"), flags.has("continue")]).toEqual(["sess_1", true, false]);
  });
});
