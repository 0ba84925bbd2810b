import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../protocol/json.js";
import { decide } from "./decide.js";
import type { DecisionFacts } from "./facts.js";
import { inlineRule, readRuleWords, ruleWords } from "./lasting-rule.js";
import { parsePermissions, parseRules } from "./parse-rules.js";
import { lastingRules } from "./session-rules.js";
import { bash, HOME, onPath, otherTool, policyWith, rulesOf, USER_FILE } from "./test-support/sample-policy.js";

const CONTAINED = { sandboxed: true, contained: true };
const FLAG = { flag: "--allow", decision: "allow" } as const;

const COMMANDS = [
  "git push origin main",
  "npm ci",
  "curl https://example.com/a?b=c | tee out.json",
  "make && npm publish --tag next",
  "ls $(touch c.txt)",
  "A=1 make",
  "for f in *; do curl -o $f https://example.com/$f; done",
  "cat a.txt > b.txt",
  "echo 'it''s' \"a\\b\" {x,y} [z] ?",
  "python3 - <<'END'\nprint('*')\nEND",
  "rm -rf *",
];

describe("[P1] the rule that a question names", () => {
  const questions: readonly (readonly [string, DecisionFacts])[] = [
    ...COMMANDS.map((command) => [command, bash(command, CONTAINED)] as const),
    ["edit", onPath("edit", "src/a.ts")],
    ["a file outside", onPath("read", "/var/log/a[1].log")],
    ["an extension", otherTool("mcp__a__b", { args: { x: 1 } })],
  ];
  for (const mode of ["ask", "auto"] as const) {
    const asking = questions.filter(
      ([, facts]) => decide(facts, policyWith({ mode, edits: "ask" })).decision === "ask",
    );
    it(`is there for enough of these questions in mode ${mode}`, () => expect(asking.length).toBeGreaterThan(7));
    it.each(asking)(`allows it in mode ${mode}, with the network if it needs it: %s`, (_, facts) => {
      const policy = policyWith({ mode, edits: "ask" });
      const asked = decide(facts, policy);
      const rules = (asked.byFlag ?? asked.offer ?? []).flatMap(lastingRules);
      const toml = parse(`permissions.rules = [${rules.map(inlineRule).join(", ")}]`);
      const words = rules.map((rule) => readRuleWords(ruleWords(rule), FLAG));
      for (const table of [toml.permissions, { rules: words }]) {
        const parsed = parsePermissions(table, USER_FILE, { home: HOME });
        expect(parsed.problems).toEqual([]);
        const allowed = decide(facts, { ...policy, rules: parsed.rules });
        expect(allowed).toMatchObject({ decision: "allow", law: "rule" });
        const opens = (asked.openings ?? []).includes("network");
        if (mode === "auto") expect(allowed.openings?.includes("network") ?? false).toBe(opens);
      }
    });
  }

  it("comes before a rule of yours that asks, and never before one of a project", () => {
    const ask = { tool: "bash", command: "git push *", decision: "ask" };
    const facts = bash("git push origin main");
    const yours = decide(facts, policyWith({ rules: rulesOf(ask) }));
    expect(yours.offer).toEqual([]);
    const [words = ""] = (yours.byFlag ?? []).flatMap(lastingRules).map(ruleWords);
    expect(words).toBe("bash+network: git push *");
    const given = rulesOf(readRuleWords(words, FLAG) as JsonObject);
    expect(decide(facts, policyWith({ rules: [...rulesOf(ask), ...given] })).decision).toBe("allow");
    const project = parseRules([ask], { file: "project", scope: "project" }).rules;
    const theirs = decide(facts, policyWith({ rules: [...project, ...given] }));
    expect([theirs.decision, theirs.byFlag]).toEqual(["ask", undefined]);
  });
});

describe("[P1] a rule with network", () => {
  it("opens it for its own commands only", () => {
    const rules = rulesOf({ tool: "bash", command: "./fetch *", decision: "allow", network: true });
    const openings = (command: string) =>
      decide(bash(command, CONTAINED), policyWith({ mode: "auto", rules })).openings;
    expect(openings("./fetch a")).toEqual(["network"]);
    expect(openings("./fetch a; ./other")).toBeUndefined();
    expect(openings("make")).toBeUndefined();
  });

  it("names a command, and is no rule of a project", () => {
    const problems = (rule: JsonObject, scope: "user" | "project" = "user") =>
      parseRules([{ tool: "bash", decision: "allow", network: true, ...rule }], { file: "f", scope }).problems.length;
    expect(problems({ command: "npm ci" })).toBe(0);
    expect(problems({})).toBe(1);
    expect(problems({ path: "a" })).toBe(1);
    expect(problems({ command: "npm ci", decision: "deny" })).toBe(1);
    expect(problems({ command: "npm ci" }, "project")).toBe(1);
    expect(problems({ command: "npm ci", network: "yes" })).toBe(1);
  });
});

describe("[P1] the text of a rule", () => {
  it.each([
    ["bash: git push *", { tool: "bash", command: "git push *" }],
    ["bash+network: npm ci", { tool: "bash", command: "npm ci", network: true }],
    ["bash: A=1 make", { tool: "bash", command: "A=1 make" }],
    ["bash: command=make; ls", { tool: "bash", argument: { name: "command", glob: "make; ls" } }],
    ["{edit,write}: src/**", { tool: "{edit,write}", path: "src/**" }],
    ["web_fetch: url=https://a.b/*", { tool: "web_fetch", argument: { name: "url", glob: "https://a.b/*" } }],
    ["mcp__a__b: *", { tool: "mcp__a__b" }],
  ])("%s", (text, table) => {
    expect(readRuleWords(text, FLAG)).toEqual({ ...table, decision: "allow", priority: 1000 });
  });

  it.each(["", "make", "git push *", "bash:", ": x", "bash+everything: x"])(
    "is refused if it names no tool: %j",
    (text) => {
      expect(() => readRuleWords(text, FLAG)).toThrow("TOOL: PATTERN");
    },
  );
});
