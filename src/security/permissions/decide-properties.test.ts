import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { compileGlob } from "../../base/glob.js";
import type { JsonObject } from "../../protocol/json.js";
import { decide, type PermissionPolicy } from "./decide.js";
import { DECISIONS, type Decision, type DecisionFacts } from "./facts.js";
import type { SessionRule, SessionRuleDraft } from "./session-rules.js";
import { bash, onPath, otherTool, pathsOf, policyWith, rulesOf, WORKSPACE } from "./test-support/sample-policy.js";

/* ---- calls ---- */

const commands = fc.constantFrom(
  ...["ls", "cat a", "git push", "rm -rf x", "make && ls", "op read x", "sudo rm x", "$X y", "echo 'z", "cat docs/a"],
  ...["echo x > docs/a", "npm test; rm x", "for i in 1; do make; done", "bash -c 'rm x'", "cd docs && cat b"],
);
const files = fc.constantFrom("a.ts", "docs/a.md", "docs/drafts/b", ".env", "/etc/hosts", ".git/hooks/x", "src/c.ts");
const around = fc.record({
  planMode: fc.boolean(),
  sandboxed: fc.boolean(),
  originator: fc.constantFrom("human", "agent"),
});

const calls: fc.Arbitrary<DecisionFacts> = fc.oneof(
  fc.tuple(commands, around).map(([command, more]) => bash(command, more)),
  fc
    .tuple(fc.constantFrom("read", "grep", "edit", "write"), files, around)
    .map(([tool, path, more]) => onPath(tool, path, path === ".env" ? { ...more, sensitive: "secrets" } : more)),
  fc.tuple(fc.constantFrom("mcp__a__b", "mcp__a__c"), around).map(([tool, more]) => otherTool(tool, more)),
);

/* ---- policies ---- */

const subjects = fc.constantFrom<JsonObject>(
  ...[
    { tool: "bash", command: "rm *" },
    { tool: "bash", command: "git *" },
    { tool: "bash", command: "make" },
  ],
  ...[
    { tool: "*", path: "docs/**" },
    { tool: "edit", path: "src/*" },
    { tool: "*" },
    { tool: "bash" },
    { tool: "mcp__*" },
  ],
);
const rules = fc.array(
  fc
    .tuple(subjects, fc.constantFrom(...DECISIONS), fc.integer({ min: -2, max: 2 }))
    .map(([subject, decision, priority]) => ({ ...subject, decision, priority })),
  { maxLength: 5 },
);
const policies: fc.Arbitrary<PermissionPolicy> = fc
  .record({
    mode: fc.constantFrom("allow", "ask", "deny"),
    preset: fc.constantFrom("quiet", "strict"),
    edits: fc.constantFrom("contained", "ask"),
    rules: rules.map((list) => rulesOf(...list)),
    paths: fc.constantFrom(pathsOf({}), pathsOf({ docs: "r" }), pathsOf({ docs: "none", "docs/drafts": "rw" })),
    safeMode: fc.constantFrom({ on: false, allowed: [] }, { on: true, allowed: ["ls", "cat", "echo"] }),
  })
  .map(policyWith);

const drafts = fc.constantFrom<SessionRuleDraft>(
  { kind: "tool", tool: "bash" },
  { kind: "tool", tool: "edit" },
  { kind: "tool", tool: "mcp__a__b" },
  { kind: "command", tool: "bash", glob: compileGlob("make *", "words"), example: "make" },
  { kind: "path", tool: "write", glob: compileGlob("**", "path"), example: "a" },
);
const sessions: fc.Arbitrary<readonly SessionRule[]> = fc.array(
  fc
    .tuple(drafts, fc.constantFrom("human", "agent"))
    .map(([draft, originator]): SessionRule => ({ number: 1, draft, originator })),
  { maxLength: 3 },
);

const RUNS = { seed: 20_260_101, numRuns: times(100, 1000) };
const strictness = (decision: Decision) => DECISIONS.indexOf(decision);

describe("a decision", () => {
  it("that denies is not changed by anything below it: session, preset, sandbox or an allow of the same priority", () => {
    const check = fc.property(calls, policies, sessions, (facts, policy, session) => {
      const { decision, law } = decide(facts, policy);
      fc.pre(decision === "deny");
      const lowest = Math.min(...policy.rules.map(({ priority }) => priority), 0);
      const more = rulesOf({ tool: "*", decision: "allow", priority: lowest });
      const widened = { ...policy, preset: "quiet", edits: "contained", rules: [...policy.rules, ...more] } as const;
      expect(decide({ ...facts, sandboxed: true }, widened, session)).toMatchObject({ decision: "deny", law });
    });
    fc.assert(check, RUNS);
  });

  it("that denies by a law about the whole call is not changed by any rule or mode allow", () => {
    const check = fc.property(calls, policies, sessions, (facts, policy, session) => {
      const { decision, law } = decide(facts, policy);
      fc.pre(decision === "deny" && law !== "rule" && law !== "mode deny");
      const more = rulesOf({ tool: "*", decision: "allow", priority: 1000 });
      const widened = { ...policy, mode: "allow", rules: [...policy.rules, ...more] } as const;
      expect(decide(facts, widened, session)).toMatchObject({ decision: "deny", law });
    });
    fc.assert(check, RUNS);
  });

  it("is not changed at all by an allow rule about something else, whatever its priority", () => {
    const unrelated = rulesOf(
      { tool: "other", decision: "allow", priority: 1000 },
      { tool: "bash", command: "unheard-of *", decision: "allow", priority: 1000 },
      { tool: "*", path: "elsewhere/**", decision: "allow", priority: 1000 },
      { tool: "*", argument: { name: "none", glob: "*" }, decision: "allow", priority: 1000 },
    );
    const check = fc.property(calls, policies, sessions, (facts, policy, session) => {
      const before = decide(facts, policy, session);
      const after = decide(facts, { ...policy, rules: [...policy.rules, ...unrelated] }, session);
      expect(after).toEqual(before);
    });
    fc.assert(check, RUNS);
  });

  it("is never made milder by another deny or ask rule of the highest priority", () => {
    const check = fc.property(
      calls,
      policies,
      subjects,
      fc.constantFrom("ask", "deny"),
      (facts, policy, subject, decision) => {
        const more = rulesOf({ ...subject, decision, priority: 3 });
        const before = decide(facts, policy).decision;
        // A question that a rule asks stands above a denial by a lower rule: that is what priorities are for.
        fc.pre(decision === "deny" || before !== "deny");
        const after = decide(facts, { ...policy, rules: [...policy.rules, ...more] }).decision;
        expect(strictness(after)).toBeGreaterThanOrEqual(Math.min(strictness(before), strictness(decision)));
      },
    );
    fc.assert(check, RUNS);
  });

  it("is never made milder by plan mode, safe mode or path permissions", () => {
    const check = fc.property(calls, policies, sessions, (facts, policy, session) => {
      const before = strictness(decide(facts, policy, session).decision);
      const narrowed: readonly [DecisionFacts, PermissionPolicy][] = [
        [{ ...facts, planMode: true }, policy],
        [facts, { ...policy, safeMode: { on: true, allowed: [] } }],
        [facts, { ...policy, paths: pathsOf({ ".": "none" }) }],
        [facts, { ...policy, mode: "deny" }],
      ];
      for (const [call, stricter] of narrowed) {
        expect(strictness(decide(call, stricter, session).decision)).toBeGreaterThanOrEqual(before);
      }
    });
    fc.assert(check, RUNS);
  });

  it("does not leak from one tool's session rules to another tool", () => {
    const check = fc.property(calls, policies, sessions, (facts, policy, session) => {
      const own = session.filter(({ draft }) => draft.tool === facts.tool.name);
      expect(decide(facts, policy, session)).toEqual(decide(facts, policy, own));
    });
    fc.assert(check, RUNS);
  });

  it("does not depend on what a call says about rules, modes or identities", () => {
    const claims = fc.dictionary(
      fc.constantFrom("mode", "decision", "priority", "identity", "originator", "lift_blocklist", "allow", "__proto__"),
      fc.constantFrom("allow", "human", true, 1000),
    );
    const check = fc.property(calls, policies, claims, (facts, policy, claim) => {
      const before = decide(facts, policy);
      const after = decide({ ...facts, args: { ...claim, ...facts.args } }, policy);
      expect([after.decision, after.decidedBy]).toEqual([before.decision, before.decidedBy]);
    });
    fc.assert(check, RUNS);
  });

  it("is the strictest over the parts: a list of commands is never milder than one of them", () => {
    const check = fc.property(commands, commands, policies, (one, other, policy) => {
      fc.pre(!one.includes("'z") && !other.includes("'z"));
      const both = strictness(decide(bash(`${one}; ${other}`), policy).decision);
      expect(both).toBeGreaterThanOrEqual(strictness(decide(bash(one), policy).decision));
      expect(both).toBeGreaterThanOrEqual(
        strictness(decide(bash(other), { ...policy, workspace: WORKSPACE }).decision),
      );
    });
    fc.assert(check, RUNS);
  });
});
