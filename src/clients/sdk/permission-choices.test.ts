import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { CallId } from "../../protocol/ids.js";
import { permissionChoices, shortQuestion } from "./permission-choices.js";

describe("the answers to a question", () => {
  for (const [kind, args, rule, words] of [
    ["run", {}, "do: git push *", "git push *"],
    ["run", {}, "do: command=npm test", "npm test"],
    ["run", {}, "do+network: git push *", "git push *, with network"],
    ["run", {}, "do+network+unix_sockets: docker *", "docker *, with network and unix sockets"],
    ["edit", { content: "" }, "do: path=src/**", "writing src/**"],
    ["edit", {}, "do: src/a.ts", "edits of src/a.ts"],
    ["edit", { patch: "" }, "do: src/a.ts", "patches of src/a.ts"],
    ["fetch", {}, "do: url=https://example.com/*", "do: url=https://example.com/*"],
    ["run", {}, "mcp__x__say: hi", "mcp__x__say: hi"],
  ] as const) {
    verifies(["P2"], `say ${rule} (${kind}) as people do`, () => {
      const call = "call_1" as CallId;
      const choices = permissionChoices({
        call,
        ...{ tool: "do", tool_kind: kind, args, summary: "" },
        offer: [rule],
        always: [rule],
      });
      const labels = Object.fromEntries(choices.map(({ key, label }) => [key, label]));
      expect([labels.s, labels.a]).toEqual([`yes, and not again this session for: ${words}`, `always allow: ${words}`]);
    });
  }

  for (const [kind, args, summary, words] of [
    ["run", { command: "npm test" }, "do: npm test", "Run npm test?"],
    ["edit", { path: "a.txt" }, "do a.txt", "Edit a.txt?"],
    ["edit", { path: "a.txt", content: "" }, "do a.txt", "Write a.txt?"],
    ["edit", { patch: "" }, "do a.txt, b.txt", "Change a.txt, b.txt?"],
    ["fetch", {}, "do https://example.com", undefined],
    ["run", { command: "one\ntwo" }, "do: one\ntwo", undefined],
  ] as const)
    verifies(["P2"], `ask about ${summary.replaceAll(/\s/g, " ")} (${kind}) in one line, if it says everything`, () => {
      const question = { call: "call_1" as CallId, tool: "do", tool_kind: kind, args, summary };
      expect(shortQuestion(question)).toBe(words);
    });

  verifies(["P2", "X4"], "ask in the words of a tool that has some, and quote what is long or of several lines", () => {
    const of = (summary: string) => ({
      call: "call_1" as CallId,
      tool: "memory",
      args: {},
      summary,
      always: ["memory: *"],
    });
    expect(shortQuestion(of("Remember, for all projects: use tabs"))).toBe("Remember, for all projects: use tabs?");
    expect(shortQuestion(of("memory action: save"))).toBeUndefined();
    expect(shortQuestion(of("Remember, for all projects: a\n[y] yes"))).toBeUndefined();
    expect(shortQuestion(of(`Remember: ${"long ".repeat(30)}`))).toBeUndefined();
    const labels = permissionChoices(of("Remember, for all projects: use tabs")).map(({ label }) => label);
    expect(labels).toContain("always allow: any call of memory");
  });

  verifies(["P2"], "are yes and no where Oxbow itself asks, about no call of the model", () => {
    for (const [tool, summary, words] of [
      ["a summary", "take a summary of this one", "Take a summary of this one?"],
      ["an answer", "write the file of the last answer", "Write the file of the last answer?"],
    ] as const) {
      const question = { call: "call_1" as CallId, tool, args: {}, summary, once_only: true } as const;
      expect(shortQuestion(question)).toBe(words);
      expect(permissionChoices(question).map(({ key, label }) => `${key} ${label}`)).toEqual(["y yes", "n no"]);
    }
  });

  for (const [kind, summary, words] of [
    ["run", "do: make", "exactly this command"],
    ["fetch", "do: make one", "exactly this call"],
  ] as const) {
    verifies(["P2"], `say "${words}" without the call, which is in the question`, () => {
      const question = {
        call: "call_1" as CallId,
        ...{ tool: "do", tool_kind: kind, args: {}, summary: "" },
        offer: [`only this: ${summary}`],
      };
      const again = permissionChoices(question).find(({ key }) => key === "s");
      expect(again?.label).toBe(`yes, and not again this session for ${words}`);
    });
  }
});
