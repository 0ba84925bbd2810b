import { describe, expect, it } from "vitest";
import { slashLine } from "../../commands/test-support/slash-line.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody, PermissionDecision, ToolStatus } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import { AUDIT_CAPACITY, AuditRing } from "./audit-ring.js";
import { auditCommands } from "./commands.js";

const say = (args: string, ring: AuditRing) => slashLine(...auditCommands(async () => ring))(`audit ${args}`);

class Session {
  readonly events: Envelope[] = [];

  add(body: EventBody): this {
    const id = this.events.length + 1;
    const ts = new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString();
    this.events.push({ ...body, id, session: "sess_a", originator: "cli_a", ts } as Envelope);
    return this;
  }

  started(call: CallId, command: string): this {
    return this.add({ kind: "ToolCallStarted", payload: { call, tool: "bash", args: { command } } });
  }

  resolved(call: CallId, decision: PermissionDecision, decided_by: string): this {
    return this.add({ kind: "PermissionResolved", payload: { call, tool: "bash", decision, decided_by } });
  }

  result(call: CallId, status: ToolStatus): this {
    return this.add({ kind: "ToolResult", payload: { call, tool: "bash", status, content: [] } });
  }

  ring(): AuditRing {
    const ring = new AuditRing();
    for (const event of this.events) ring.see(event);
    return ring;
  }
}

const outcomes = (ring: AuditRing) => ring.entries().map(({ action, outcome, detail }) => [action, outcome, detail]);

describe("the audit", () => {
  it("shows commands that a person typed, which have no call", () => {
    const typed = (call: CallId, decision: PermissionDecision, decided_by: string): EventBody => ({
      kind: "PermissionResolved",
      payload: { call, tool: "bash", decision, decided_by, args: { command: "make" } },
    });
    const session = new Session()
      .add(typed("call_1", "allow_once", "person"))
      .add(typed("call_2", "deny", "safe mode"));
    expect(outcomes(session.ring())).toEqual([
      ["permission", "allowed", "bash: make"],
      ["permission", "denied", "bash: make"],
    ]);
  });

  it("shows what was allowed and denied, and the results", () => {
    const session = new Session()
      .started("call_1", "make")
      .resolved("call_1", "allow_once", "cli_a")
      .result("call_1", "ok")
      .started("call_2", "rm  -rf\nx")
      .resolved("call_2", "deny", "rule 1 of config.toml")
      .result("call_2", "denied")
      .started("call_3", "make test")
      .resolved("call_3", "allow_pattern", "session rule 1")
      .result("call_3", "timeout")
      .started("call_4", "ls")
      .result("call_4", "denied");
    expect(outcomes(session.ring())).toEqual([
      ["permission", "allowed", "bash: make"],
      ["run", "success", "bash: make"],
      ["permission", "denied", "bash: rm -rf x"],
      ["permission", "allowed", "bash: make test"],
      ["run", "error", "bash: make test"],
      ["run", "denied", "bash: ls"],
    ]);
    expect(session.ring().entries()[2]).toMatchObject({
      time: "2026-01-01T00:00:05.000Z",
      decided_by: "rule 1 of config.toml",
      call: "call_2",
      event: 5,
    });
  });

  it("names the files of a patch, and what a command of a person was about", () => {
    const patch = "*** Begin Patch\n*** Update File: a.ts\n@@\n-1\n+2\n*** Add File: b/c.ts\n+x\n*** End Patch";
    const session = new Session()
      .add({ kind: "ToolCallStarted", payload: { call: "call_1", tool: "apply_patch", args: { patch } } })
      .resolved("call_1", "allow_once", "cli_a")
      .add({
        kind: "PermissionResolved",
        payload: {
          call: "call_2",
          tool: "read",
          decision: "deny",
          decided_by: "path permission",
          args: { path: "../x" },
        },
      });
    expect(outcomes(session.ring())).toEqual([
      ["permission", "allowed", "apply_patch a.ts, b/c.ts"],
      ["permission", "denied", "read ../x"],
    ]);
  });

  it("holds what the log holds: the same events give the same ring", () => {
    const session = new Session();
    for (let n = 0; n < 50; n++)
      session.started(`call_${n}`, `run ${n}`).resolved(`call_${n}`, "allow_tool", "x").result(`call_${n}`, "ok");
    expect(session.ring().entries()).toEqual(session.ring().entries());
    const inLog = session.events.filter(({ kind }) => kind === "PermissionResolved" || kind === "ToolResult");
    expect(
      session
        .ring()
        .entries()
        .map(({ event }) => event),
    ).toEqual(inLog.map(({ id }) => id));
  });

  it("holds the last thousand", () => {
    const session = new Session();
    for (let n = 0; n < AUDIT_CAPACITY + 5; n++) session.resolved(`call_${n}`, "deny", "mode deny");
    const ring = session.ring();
    expect([ring.entries().length, ring.dropped, ring.entries()[0]?.call]).toEqual([AUDIT_CAPACITY, 5, "call_5"]);
  });

  it("does not keep what concerns finished calls, nor long commands in full", () => {
    const ring = new Session().started("call_1", "x".repeat(5000)).resolved("call_1", "deny", "y").ring();
    expect(ring.entries()[0]?.detail.length).toBe(200);
  });
});

describe("/audit", () => {
  const ring = () =>
    new Session()
      .started("call_1", "make\u001b[31m")
      .resolved("call_1", "deny", "person")
      .result("call_1", "denied")
      .started("call_2", "ls")
      .result("call_2", "ok")
      .ring();

  it("shows the last entries without what could harm a terminal", async () => {
    expect((await say("", ring())).text).toBe(
      "2026-01-01T00:00:02.000Z  denied   bash: make  (person)\n2026-01-01T00:00:05.000Z  success  bash: ls",
    );
    expect((await say("show 1", ring())).text).toBe("2026-01-01T00:00:05.000Z  success  bash: ls");
    expect((await say("show", new AuditRing())).text).toBe("The audit is empty: there are no decisions or calls yet.");
  });

  it("counts", async () => {
    expect((await say("status", ring())).text).toBe(
      "Audit: 2 of 1000 entries since 2026-01-01T00:00:02.000Z: 0 allowed, 1 denied, 1 success, 0 error.",
    );
    expect((await say("status", new AuditRing())).text).toBe("Audit: empty (room for 1000).");
  });

  it("clears the ring and says that the log stays", async () => {
    const full = ring();
    expect((await say("clear", full)).text).toBe("2 entries cleared. The session's log keeps them.");
    expect(full.entries()).toEqual([]);
  });

  it.each(["what", "show 0", "show x", "show 1 2", "clear all"])("explains itself for %j", async (args) => {
    expect(await say(args, ring())).toMatchObject({ ok: false });
  });
});
