import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { CallId } from "../../protocol/ids.js";
import { permissionChoices } from "./permission-choices.js";

describe("the answers to a question", () => {
  for (const [rule, words] of [
    ["bash: git push *", "git push *"],
    ["bash: command=npm test", "npm test"],
    ["bash+network: git push *", "git push *, with network"],
    ["bash+network+unix_sockets: docker *", "docker *, with network and unix sockets"],
    ["write: path=src/**", "write: path=src/**"],
  ] as const) {
    verifies(["P2"], `say ${rule} as people do`, () => {
      const call = "call_1" as CallId;
      const choices = permissionChoices({ call, tool: "bash", args: {}, summary: "", offer: [rule], always: [rule] });
      const labels = Object.fromEntries(choices.map(({ key, label }) => [key, label]));
      expect([labels.s, labels.a]).toEqual([`yes, and not again this session for: ${words}`, `always allow: ${words}`]);
    });
  }

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
