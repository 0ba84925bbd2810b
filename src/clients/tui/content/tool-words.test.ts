import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { CallId } from "../../../protocol/ids.js";
import type { ToolBlock } from "./block.js";
import { argumentWords } from "./tool-words.js";

describe("the line about a call", () => {
  verifies(["U2"], "shows the arguments of git as they would be typed", () => {
    const args = { command: "log", args: ["-n", "5", "--format=%h %s"] };
    const block: ToolBlock = { kind: "tool", call: "call_1" as CallId, tool: "git", args, progress: "", startedAt: 0 };
    expect(argumentWords(block)).toBe("log -n 5 '--format=%h %s'");
  });
});
