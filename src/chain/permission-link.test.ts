import { describe, expect } from "vitest";
import { tool } from "../../test/support/engine.js";
import { verifies } from "../../test/verifies.js";
import { plainText } from "../protocol/content.js";
import { timedOut } from "../security/permissions/identity.js";
import { permission as create } from "./permission-link.js";
import type { ChainServices } from "./services.js";

type Next = Parameters<ReturnType<typeof create>>[2];

async function resultOf(decision: "ask" | "deny" | "allow", person: object, next?: Next) {
  const verdict = { decision, decidedBy: "rule 1", law: "rule", reason: "It writes.", offer: [] };
  const gate = { judge: async () => verdict, remember: () => {}, mode: "ask" };
  const services = { gate, person: { record: () => {}, present: () => true, ...person } } as unknown as ChainServices;
  const definition = tool("write", async () => ({ status: "ok", content: [] }));
  const context = { definition, signal: new AbortController().signal, progress: () => {} };
  return create(services)({ call: "call_x", tool: "write", args: {} }, context, async (...about) => {
    if (next === undefined) throw new Error("it must not run");
    return next(...about);
  });
}

describe("a call that is not allowed", () => {
  verifies(["O5", "P2"], "says in its result why: a rule, a person, no answer in time, no client", async () => {
    const no = { ask: async () => ({ decision: "deny", decidedBy: "cli_x" }) };
    const late = { ask: async () => timedOut(60_000) };
    const cases = [
      ["PermissionDenied", "write was denied by rule 1. Change that rule", await resultOf("deny", {})],
      [
        "PermissionDenied",
        "write was denied by the user. To allow it, try again and answer yes",
        await resultOf("ask", no),
      ],
      ["PermissionTimeout", "automatically after 60 s", await resultOf("ask", late)],
      ["PermissionUnanswerable", "there is no terminal to ask on", await resultOf("ask", { present: () => false })],
    ] as const;
    for (const [reason, words, outcome] of cases) {
      const message = expect.stringContaining(words);
      expect(outcome).toMatchObject({ status: "denied", details: { failure: { reason, message } } });
    }
  });

  verifies(["L21"], "says what to do where no one answers", async () => {
    const late = await resultOf("ask", { ask: async () => timedOut(60_000) });
    const alone = await resultOf("ask", { present: () => false });
    for (const { content } of [late, alone])
      expect(plainText(content).split("Continue without it, or say what you would have done.")).toEqual([
        expect.stringMatching(/^Denied.*\. $/),
        "",
      ]);
  });

  verifies(["P2"], "is not to be tried another way if the user refused it, and has the user's words", async () => {
    const no = { ask: async () => ({ decision: "deny", decidedBy: "cli_x", message: "Use pnpm." }) };
    const text = "The user refused this. Do not try it another way; ask if you cannot go on. The user says: Use pnpm.";
    expect((await resultOf("ask", no)).content).toMatchObject([{ text }]);
  });
});

describe("a question that comes while a call runs", () => {
  verifies(["P2"], "tells a no from no answer", async () => {
    const said = async (person: object) => {
      const heard: unknown[] = [];
      await resultOf("allow", person, async (_, context) => {
        const question = { summary: "Go on?", reason: "It may.", isOffer: true as const, onNo: () => heard.push("no") };
        heard.push(await context?.ask?.(question));
        return { status: "ok", content: [] };
      });
      return heard;
    };
    expect(await said({ ask: async () => ({ decision: "allow", decidedBy: "cli_x" }) })).toEqual([true]);
    expect(await said({ ask: async () => ({ decision: "deny", decidedBy: "cli_x" }) })).toEqual(["no", false]);
    expect(await said({ ask: async () => timedOut(60_000) })).toEqual([false]);
    expect(await said({ present: () => false })).toEqual([false]);
  });
});
