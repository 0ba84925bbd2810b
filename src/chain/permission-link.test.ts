import { describe, expect } from "vitest";
import { tool } from "../../test/support/engine.js";
import { verifies } from "../../test/verifies.js";
import { timedOut } from "../security/permissions/identity.js";
import { permission as create } from "./permission-link.js";
import type { ChainServices } from "./services.js";

async function resultOf(decision: "ask" | "deny", person: object) {
  const verdict = { decision, decidedBy: "rule 1", law: "rule", reason: "It writes.", offer: [] };
  const gate = { judge: async () => verdict, remember: () => {}, mode: "ask" };
  const services = { gate, person: { record: () => {}, present: () => true, ...person } } as unknown as ChainServices;
  const definition = tool("write", async () => ({ status: "ok", content: [] }));
  const context = { definition, signal: new AbortController().signal, progress: () => {} };
  return create(services)({ call: "call_x", tool: "write", args: {} }, context, async () => {
    throw new Error("it must not run");
  });
}

describe("a call that is not allowed", () => {
  verifies(["O5", "P2"], "says in its result why: a rule, a person, no answer in time, no client", async () => {
    const no = { ask: async () => ({ decision: "deny", decidedBy: "cli_x" }) };
    const late = { ask: async () => timedOut(60_000) };
    const cases = [
      ["PermissionDenied", "write was denied by rule 1", await resultOf("deny", {})],
      ["PermissionDenied", "write was denied by the user", await resultOf("ask", no)],
      ["PermissionTimeout", "automatically after 60 s", await resultOf("ask", late)],
      ["PermissionUnanswerable", "there is no terminal to ask on", await resultOf("ask", { present: () => false })],
    ] as const;
    for (const [reason, words, outcome] of cases) {
      const message = expect.stringContaining(words);
      expect(outcome).toMatchObject({ status: "denied", details: { failure: { reason, message } } });
    }
  });

  verifies(["P2"], "is not to be tried another way if the user refused it, and has the user's words", async () => {
    const no = { ask: async () => ({ decision: "deny", decidedBy: "cli_x", message: "Use pnpm." }) };
    const text = "The user refused this. Do not try it another way; ask if you cannot go on. The user says: Use pnpm.";
    expect((await resultOf("ask", no)).content).toMatchObject([{ text }]);
  });
});
