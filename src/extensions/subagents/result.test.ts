import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { plainText } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { resultOf } from "./result.js";

function said(ended: Partial<EventPayloads["TurnEnded"]>): string {
  const whole = { turn: "turn_1", outcome: "answered", text: "", iterations: 1, usage: NO_USAGE, ...ended };
  const base = { type: "general", session: "sess_1" as SessionId, elapsedMs: 1, calls: 2, notes: [] };
  return plainText(resultOf({ ...base, ended: whole as EventPayloads["TurnEnded"] }).content);
}

verifies(["L17", "L21"], "what a subagent could not do says what to do next, in words for the model", () => {
  const how = "add --allow 'bash: command=ls'";
  const denied = said({
    outcome: "denied",
    failure: failure("PermissionUnanswerable", { tool: "bash", about: "ls /x", how }),
  });
  expect(denied).toMatch(/ls \/x\. It gave no report\. What it changed before stays\. Continue without it, or say/);
  expect(denied).not.toContain("--allow");
  for (const ended of [
    { outcome: "limit", failure: failure("IterationLimit", { limit: 3 }) },
    { outcome: "failed", text: "half", failure: failure("Internal", { detail: "x" }) },
    { outcome: "answered" },
  ] as const)
    expect(said(ended)).toContain("Start another one with a smaller task, or do the rest yourself.");
  expect(said({ truncated: true, text: "half" })).toContain("Ask another one for what is missing.");
  expect(said({ text: "whole" })).toBe("whole");
});
