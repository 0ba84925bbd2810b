import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { downMessage } from "./session-servers.js";

verifies(
  ["E6", "O5"],
  "a server that is down is explained once, and a restart is on offer only where one was tried",
  () => {
    const changed = "MCP server 'x' refused to start: a.mjs changed since it was approved.";
    expect(downMessage({ name: "x", attempts: 0, reason: changed })).toBe(changed);
    const signIn = "it asks for a sign-in. Run: oxbow mcp auth x";
    expect(downMessage({ name: "x", attempts: 0, reason: signIn })).toBe(`MCP server 'x' is not available: ${signIn}`);
    expect(downMessage({ name: "x", attempts: 3, reason: "it exited with code 3." })).toMatch(
      /^MCP server 'x' is down after 3 restart attempts: it exited with code 3\. .*\/mcp restart x/,
    );
  },
);
