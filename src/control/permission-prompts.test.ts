import { beforeEach, describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import { Bus } from "../engine/bus.js";
import type { Envelope } from "../protocol/envelope.js";
import { timedOut } from "../security/permissions/identity.js";
import { PermissionPrompts } from "./permission-prompts.js";

const question = { call: "call_1", tool: "bash", args: {}, summary: "bash: make" } as const;
let clock: ManualClock;
let permissionPrompts: PermissionPrompts;
let events: Envelope[];

beforeEach(() => {
  clock = new ManualClock();
  const bus = new Bus({ session: "sess_a", originator: "cli_a", clock });
  events = [];
  bus.subscribe((event) => events.push(event));
  permissionPrompts = new PermissionPrompts(bus, () => true, { clock, ms: 60_000, answer: timedOut(60_000) });
});

describe("a question to a person", () => {
  verifies(["P4"], "is denied when its time is over, with the reason, and never answered afterwards", async () => {
    const answer = permissionPrompts.ask(question, new AbortController().signal);
    expect(events[0]).toMatchObject({ kind: "PermissionRequested", payload: { timeout_ms: 60_000 } });
    clock.advance(59_999);
    expect(events).toHaveLength(1);
    clock.advance(1);
    expect(await answer).toMatchObject({ decision: "deny", unanswered: { afterMs: 60_000 } });
    expect(events[1]).toMatchObject({
      kind: "PermissionResolved",
      payload: { decision: "deny", decided_by: "permission_timeout (60 s)", message: expect.stringContaining("60 s") },
    });
    expect(permissionPrompts.answer("call_1", { decision: "allow_once", decidedBy: "cli_b" })).toBe(false);
    expect(events).toHaveLength(2);
  });

  verifies(["P4"], "leaves no timer behind when it was answered or cancelled", async () => {
    const answered = permissionPrompts.ask(question, new AbortController().signal);
    permissionPrompts.answer("call_1", { decision: "allow_once", decidedBy: "cli_b" });
    expect((await answered).decision).toBe("allow_once");
    const cancel = new AbortController();
    const cancelled = permissionPrompts.ask(question, cancel.signal);
    cancel.abort();
    expect(await cancelled).toMatchObject({ decision: "deny", decidedBy: "cancelled" });
    expect(clock.pending).toBe(0);
  });
});
