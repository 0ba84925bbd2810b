import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { COMMANDS } from "../cli/command-table.js";
import { shell } from "../cli/commands/session.js";
import { actionsOf } from "../commands/registry.js";
import { SESSION_SPECS } from "../runtime/commands/catalogue.js";
import { FAILURE_REASONS, failure, isBuiltInReason } from "./errors.js";

/** Reasons that are a contract with clients; a rename breaks them. */
const CONTRACT = [
  "HandshakeRequired",
  "TurnInProgress",
  "PermissionDenied",
  "PermissionTimeout",
  "TokenExpired",
  "TokenRevoked",
  "MCPServerSHA256Mismatch",
  "MCPServerUnavailable",
  "HookHashChanged",
  "HookTimeout",
  "RateLimited",
  "BashCancelledMidCommand",
  "NonInteractiveAckRefused",
  "HandshakeVersionMismatch",
  "CredentialHelperFailed",
];

describe("failures", () => {
  verifies(["O5"], "keep the reasons clients rely on", () => {
    expect(CONTRACT.filter((reason) => !isBuiltInReason(reason))).toEqual([]);
    expect(isBuiltInReason("toString")).toBe(false);
  });

  verifies(["O5"], "fill their text from the fields", () => {
    expect(failure("TurnInProgress", { originator: "cli_1", ts: "now" }).message).toBe(
      "Another client is sending input to this session (started by cli_1 at now). Wait, or send /cancel to interrupt.",
    );
    expect(failure("RateLimited", { name: "zai", "retry-after": 7 }, { retryable: true })).toEqual({
      reason: "RateLimited",
      message: "Provider zai rate-limited the request. Retrying in 7s… (Ctrl-C to cancel, /model to switch).",
      retryable: true,
    });
  });

  verifies(["O5"], "end a sentence once, also when a detail is one", () => {
    const detail = "Could not read config.toml.";
    const { message } = failure("MCPServerUnavailable", { name: "x", attempts: 3, detail });
    expect(message).toContain("Could not read config.toml. Its tools");
  });

  verifies(["O5"], "have one line of text each", () => {
    for (const reason of FAILURE_REASONS) {
      const { message } = failure(reason);
      expect(message.length, reason).toBeGreaterThan(5);
      expect(message, reason).not.toContain("\n");
    }
  });

  verifies(["O5"], "name only commands that exist", () => {
    const programs = new Set(COMMANDS.map(({ name }) => name));
    const slashes = new Set(SESSION_SPECS.map(({ name }) => name.split(":")[0]));
    for (const reason of FAILURE_REASONS) {
      const { message } = failure(reason);
      for (const [, name = ""] of message.matchAll(/\boxbow ([a-z-]+)/g))
        expect(programs, `${reason}: ${name}`).toContain(name);
      for (const [, name = ""] of message.matchAll(/oxbow session ([a-z-]+)/g))
        expect(actionsOf(shell.specs, "session"), reason).toContain(name);
      for (const [, name = ""] of message.matchAll(/(?:^|[\s('])\/([a-z][\w:/-]*)/g))
        expect(slashes, `${reason}: ${name}`).toContain(name);
    }
  });
});
