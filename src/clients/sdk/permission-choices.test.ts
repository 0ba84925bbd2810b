import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { CallId } from "../../protocol/ids.js";
import { permissionChoices, shortQuestion } from "./permission-choices.js";

describe("the answers to a question", () => {
  for (const [rule, words] of [
    ["bash: git push *", "git push *"],
    ["bash: command=npm test", "npm test"],
    ["bash+network: git push *", "git push *, with network"],
    ["bash+network+unix_sockets: docker *", "docker *, with network and unix sockets"],
    ["write: path=src/**", "writing src/**"],
    ["edit: src/a.ts", "edits of src/a.ts"],
    ["mcp__x__say: hi", "mcp__x__say: hi"],
  ] as const) {
    verifies(["P2"], `say ${rule} as people do`, () => {
      const call = "call_1" as CallId;
      const choices = permissionChoices({ call, tool: "bash", args: {}, summary: "", offer: [rule], always: [rule] });
      const labels = Object.fromEntries(choices.map(({ key, label }) => [key, label]));
      expect([labels.s, labels.a]).toEqual([`yes, and not again this session for: ${words}`, `always allow: ${words}`]);
    });
  }

  for (const [tool, args, summary, words] of [
    ["bash", { command: "npm test" }, "bash: npm test", "Run npm test?"],
    ["edit", { path: "a.txt" }, "edit a.txt", "Edit a.txt?"],
    ["write", { path: "a.txt" }, "write a.txt", "Write a.txt?"],
    ["apply_patch", {}, "apply_patch a.txt, b.txt", "Change a.txt, b.txt?"],
    ["web_fetch", {}, "web_fetch https://example.com", undefined],
    ["bash", { command: "one\ntwo" }, "bash: one\ntwo", undefined],
  ] as const)
    verifies(["P2"], `ask about ${summary.replaceAll(/\s/g, " ")} in one line, if it says everything`, () => {
      expect(shortQuestion({ call: "call_1" as CallId, tool, args, summary })).toBe(words);
    });

  for (const [summary, words] of [
    ["bash: make", "exactly this command"],
    ["issues: make one", "exactly this call"],
  ]) {
    verifies(["P2"], `say "${words}" without the call, which is in the question`, () => {
      const question = {
        call: "call_1" as CallId,
        tool: "bash",
        args: {},
        summary: "",
        offer: [`only this: ${summary}`],
      };
      const again = permissionChoices(question).find(({ key }) => key === "s");
      expect(again?.label).toBe(`yes, and not again this session for ${words}`);
    });
  }
});
