import { describe, expect, it } from "vitest";
import type { ClientId } from "../../protocol/ids.js";
import type { Identity } from "./facts.js";
import { autoApproved, DEFAULT_PERMISSION_TIMEOUT_MS, mayAnswer, timedOut } from "./identity.js";
import { PlanMode } from "./plan-mode.js";
import type { Verdict } from "./verdict.js";

const one: ClientId = "cli_one";
const other: ClientId = "cli_other";

describe("who may answer", () => {
  type Case = readonly [what: string, answerer: [ClientId, Identity], turn: [ClientId, Identity], may: boolean];
  const cases: readonly Case[] = [
    ["a human their own turn", [one, "human"], [one, "human"], true],
    ["a human another's turn", [other, "human"], [one, "human"], true],
    ["a human an agent's turn", [other, "human"], [one, "agent"], true],
    ["an agent its own turn", [one, "agent"], [one, "agent"], false],
    ["an agent that now calls itself human", [one, "human"], [one, "agent"], false],
    ["a human's client that now is an agent's", [one, "agent"], [one, "human"], false],
    ["an agent a human's turn", [other, "agent"], [one, "human"], false],
    ["an agent another agent's turn", [other, "agent"], [one, "agent"], false],
  ];

  it.each(cases)("%s", (_what, [id, identity], [originator, originatorIdentity], may) => {
    const turn = { originator, originatorIdentity };
    expect(mayAnswer({ id, identity }, turn).ok).toBe(may);
  });

  it("is explained to clients that may not answer", () => {
    const turn = { originator: one, originatorIdentity: "agent" } as const;
    expect(mayAnswer({ id: one, identity: "agent" }, turn)).toMatchObject({
      reason: expect.stringContaining("own turn"),
    });
    expect(mayAnswer({ id: other, identity: "agent" }, turn)).toMatchObject({
      reason: expect.stringContaining("A human"),
    });
  });
});

describe("a question without an answer", () => {
  it("is a denial that the model can plan around", () => {
    expect(timedOut(DEFAULT_PERMISSION_TIMEOUT_MS)).toEqual({
      decision: "deny",
      decidedBy: "permission_timeout (60 s)",
      message:
        "Denied automatically after 60 s without an answer. Continue without it, or say what you would have done.",
      unanswered: { afterMs: 60_000 },
    });
  });

  it("is answered by --auto-approve if a yes lets nothing out; a denial stays", () => {
    const question: Verdict = {
      decision: "ask",
      decidedBy: "mode ask",
      law: "default",
      reason: "Each call of bash asks, until you allow it.",
    };
    const contained: Verdict = { ...question, contained: true };
    expect(autoApproved(contained)).toMatchObject({ decision: "allow", decidedBy: "--auto-approve" });
    const unanswered = autoApproved(question);
    expect(unanswered).toMatchObject({ decision: "ask", decidedBy: "mode ask" });
    expect(unanswered.reason).toContain("--auto-approve answers only what stays");
    const denial: Verdict = { ...contained, decision: "deny", law: "blocklist" };
    expect(autoApproved(denial)).toBe(denial);
  });
});

describe("plan mode", () => {
  const turn = { originator: one, originatorIdentity: "agent" } as const;
  const human = { id: other, identity: "human" } as const;

  it("ends when a human approves the plan", () => {
    const plan = new PlanMode();
    plan.enter();
    expect(plan.exit({ approve: true, client: human, turn })).toEqual({ ok: true });
    expect(plan.on).toBe(false);
  });

  it("continues when the plan is not approved", () => {
    const plan = new PlanMode();
    plan.enter();
    expect(plan.exit({ approve: false, client: human, turn })).toEqual({ ok: true });
    expect(plan.on).toBe(true);
  });

  it("is not ended by the agent that made the plan", () => {
    const plan = new PlanMode();
    plan.enter();
    const client = { id: one, identity: "agent" } as const;
    expect(plan.exit({ approve: true, client, turn }).ok).toBe(false);
    expect(plan.on).toBe(true);
  });

  it("cannot be left when it is not on", () => {
    expect(new PlanMode().exit({ approve: true, client: human, turn }).ok).toBe(false);
  });
});
