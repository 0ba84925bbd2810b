/** The rules of versions, against the kinds that earlier versions had. */
import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { DEPRECATED, type Deprecation, handshake, PROTOCOL_VERSION, versionProblem } from "./handshake.js";

/** Holds what an engine of 0.1.0 said. Its clients rely on all of it. */
const RECORDED = {
  protocol_version: "0.1.0",
  canonical_form_version: 1,
  command_kinds: [
    ...[
      "SendInput",
      "TakeBackInput",
      "CancelTurn",
      "AnswerPermission",
      "CreateSession",
      "AttachSession",
      "DetachSession",
    ],
    ...["SetModel", "SetMode", "EnterPlanMode", "ExitPlanMode", "ApproveContent", "CustomCommand"],
  ],
  event_kinds: [
    ...["TurnStarted", "InputQueued", "InputSteered", "InputDropped", "ContextAdded", "TextDelta", "ThinkingDelta"],
    ...["ToolCallStarted", "ToolCallProgress", "ToolResult", "TurnTiming", "AnswerEnded", "CostIncremented"],
    ...["RateLimited", "Retrying", "AnswerRetracted", "FailedOver", "Error", "Cancelled", "TurnEnded"],
    ...["PermissionRequested", "PermissionResolved", "CompactionTriggered", "Notice", "ContextNearlyFull"],
    ...["SubagentStarted", "SubagentProgress", "SubagentEnded", "ModeChanged", "StreamGap", "TokenExpiring"],
    ...["HookTimeout", "HookError", "MCPServerDown", "SkillRegistryChanged", "SessionEnded", "CustomEvent"],
  ],
  features: [],
} as const;

function numbers(version: string): readonly [number, number] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return [major, minor];
}

describe("versions of the protocol", () => {
  verifies(["C2"], "add kinds and take none away before they were deprecated", () => {
    const now = handshake([]);
    const gone = DEPRECATED.map(({ name }) => name);
    for (const list of ["command_kinds", "event_kinds"] as const) {
      expect(RECORDED[list].filter((kind) => !now[list].includes(kind) && !gone.includes(kind))).toEqual([]);
    }
    expect(Object.keys(RECORDED).filter((field) => !(field in now))).toEqual([]);
  });

  verifies(["C2"], "keep what is deprecated for one minor version at least", () => {
    const isFair = ({ since, removed_in: removed }: Deprecation) => {
      const [[major, minor], [laterMajor, laterMinor]] = [numbers(since), numbers(removed)];
      return laterMajor > major || (laterMajor === major && laterMinor > minor);
    };
    expect(DEPRECATED.filter((entry) => !isFair(entry))).toEqual([]);
    expect(isFair({ what: "event", name: "X", since: "0.4.0", removed_in: "0.5.0" })).toBe(true);
    expect(isFair({ what: "event", name: "X", since: "0.4.0", removed_in: "0.4.1" })).toBe(false);
  });

  verifies(["C2"], "let an old client talk to a new engine, and a new client to an old engine", () => {
    expect(versionProblem(RECORDED.protocol_version)).toBeUndefined();
    expect(versionProblem(PROTOCOL_VERSION, RECORDED.protocol_version)).toBeUndefined();
    expect(versionProblem("0.99.0-beta.1+build")).toBeUndefined();
    expect(versionProblem(undefined)).toBeUndefined();
  });

  it.each([
    ["1.0.0", "HandshakeVersionMismatch", "Upgrade the server."],
    ["0.1", "InvalidInput", "must be a version"],
    ["v0.1.0", "InvalidInput", "must be a version"],
    ["", "InvalidInput", "must be a version"],
    [1, "InvalidInput", "must be a version"],
    [`0.${"9".repeat(400)}.0`, "InvalidInput", "must be a version"],
  ])("refuse %j", (version, reason, words) => {
    expect(versionProblem(version)).toMatchObject({ reason, message: expect.stringContaining(words) });
  });

  it("say which side is too old", () => {
    expect(versionProblem("0.9.0", "1.0.0")?.message).toContain("Upgrade the client.");
  });
});
