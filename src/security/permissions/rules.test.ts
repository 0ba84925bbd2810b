import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../protocol/json.js";
import { loadCommandReader } from "./command-reader.js";
import { loadPermissions } from "./load-permissions.js";
import { parsePermissions, parseRules } from "./parse-rules.js";
import { ruleName, ruleText } from "./rule.js";
import { checkExamples, needsCommandReader } from "./rule-examples.js";
import { HOME, READER, rulesOf, USER_FILE } from "./test-support/sample-policy.js";

describe("a profile's permissions", () => {
  it("are read from TOML", () => {
    const profile = parse(`
      [permissions]
      edits = "ask"
      preset = "strict"

      [[permissions.rules]]
      tool = "bash"
      command = "git push *"
      decision = "ask"
      priority = 10
      reason = "Pushes are reviewed."
      match = ["git push origin main"]

      [[permissions.rules]]
      tool = "{edit,write}"
      path = "~/notes/"
      decision = "allow"

      [[permissions.rules]]
      tool = "web_fetch"
      argument = { name = "url", glob = "https://docs.rs/*" }
      originator = "agent"
      decision = "deny"
    `);
    const { rules, problems, edits, preset } = parsePermissions(profile.permissions, USER_FILE, { home: HOME });
    expect(problems).toEqual([]);
    expect([edits, preset]).toEqual(["ask", "strict"]);
    expect(rules.map(ruleText)).toEqual([
      "ask bash git push * (priority 10)",
      "allow {edit,write} ~/notes/",
      "deny web_fetch url=https://docs.rs/* (from an agent)",
    ]);
    expect(rules.map(ruleName)).toEqual(["rule 1 of config.toml", "rule 2 of config.toml", "rule 3 of config.toml"]);
  });

  it("are nothing when the profile has none", () => {
    expect(parsePermissions(undefined, USER_FILE)).toMatchObject({ rules: [], problems: [] });
  });

  const wrong: readonly [section: unknown, says: string][] = [
    [[], "config.toml: permissions must be a table, [permissions]."],
    [{ rule: [] }, 'config.toml, permissions: unknown key "rule".'],
    [{ edits: "no" }, 'config.toml, permissions: edits must be contained or ask, got "no".'],
    [{ rules: {} }, "config.toml: write each rule under its own [[permissions.rules]]."],
  ];

  it.each(wrong)("%j is a problem", (section, says) => {
    expect(parsePermissions(section, USER_FILE).problems).toEqual([says]);
  });
});

describe("a rule with a problem", () => {
  const cases: readonly [rule: unknown, says: RegExp][] = [
    ["x", /expected a table, got "x"/],
    [{ decision: "allow" }, /tool is missing; write tool = "\*"/],
    [{ tool: "bash" }, /decision is missing: allow, ask or deny/],
    [{ tool: "bash", decision: "yes" }, /decision must be allow or ask or deny, got "yes"/],
    [{ tool: 3, decision: "allow" }, /tool must be a text, got 3/],
    [{ tool: "bash", decision: "allow", cmd: "x" }, /unknown key "cmd"; there are tool, command/],
    [{ tool: "bash", command: "a", path: "b", decision: "allow" }, /command and path cannot be combined in one rule/],
    [{ tool: "bash", command: "ls; rm x", decision: "allow" }, /holds an operator of the shell/],
    [{ tool: "bash", command: "ls > x", decision: "deny" }, /write one rule for each/],
    [{ tool: "bash", command: "ls [", decision: "deny" }, /"\[" is not closed/],
    [{ tool: "*", path: "../x", decision: "deny" }, /holds "." or ".."/],
    [{ tool: "*", path: "a/**b", decision: "deny" }, /"\*\*" must be a whole name/],
    [{ tool: "*", argument: "x", decision: "deny" }, /argument must be a table such as/],
    [{ tool: "*", decision: "deny", priority: 1.5 }, /priority must be a whole number, got 1.5/],
    [{ tool: "*", decision: "deny", match: "x" }, /match must be a list of texts/],
    [{ tool: "*", decision: "allow", lift_blocklist: true }, /needs decision = "allow" and a command or path/],
    [{ tool: "*", command: "op *", decision: "deny", lift_blocklist: true }, /needs decision = "allow"/],
  ];

  it.each(cases)("%j", (rule, says) => {
    const fine = { tool: "*", decision: "allow" };
    const { rules, problems } = parseRules([fine, rule], USER_FILE);
    expect(problems.join("\n")).toMatch(says);
    expect(problems.every((problem) => problem.startsWith("config.toml, rule 2: "))).toBe(true);
    expect(rules.map(({ number }) => number)).toEqual([1]);
  });

  it("is one that lifts the blocklist from within a project", () => {
    const rule = { tool: "bash", command: "op *", decision: "allow", lift_blocklist: true };
    expect(parseRules([rule], USER_FILE).problems).toEqual([]);
    const { rules, problems } = parseRules([rule], { file: ".oxbow/config.toml", scope: "project" });
    expect(rules).toEqual([]);
    expect(problems).toEqual([
      ".oxbow/config.toml, rule 1: lift_blocklist works in your own profile only, not in a project's.",
    ]);
  });

  it("is one about an unknown home folder", () => {
    expect(parseRules([{ tool: "*", path: "~/x", decision: "deny" }], USER_FILE).problems[0]).toMatch(/in full/);
  });
});

describe("examples", () => {
  const kept: readonly JsonObject[] = [
    {
      tool: "bash",
      command: "git push *",
      decision: "deny",
      match: ["git push", "ls && git push -f", "sudo git push"],
      not_match: ["git pull", "echo git push"],
    },
    {
      tool: "bash",
      command: "git push *",
      decision: "allow",
      match: ["git push -v", "git push a; git push b"],
      not_match: ["git push && make", "git push > x"],
    },
    {
      tool: "{edit,write}",
      path: "docs/**",
      decision: "allow",
      match: ["docs/a/b.md", "./docs/c"],
      not_match: ["docs.md", "/docs/a", "docs/../src/a"],
    },
    {
      tool: "*",
      path: "**/.env",
      decision: "deny",
      match: [".env", "A/.ENV", "/srv/.env"],
      not_match: [".env.example"],
    },
    { tool: "*", path: "~/notes/**", decision: "allow", match: ["~/notes/a"], not_match: ["notes/a"] },
    {
      tool: "web_fetch",
      argument: { name: "url", glob: "https://docs.rs/*" },
      decision: "allow",
      match: ["https://docs.rs/x"],
      not_match: ["https://docs.rs"],
    },
    { tool: "mcp__files__*", decision: "ask", match: ["mcp__files__read"], not_match: ["mcp__web__read"] },
  ];

  it.each(kept)("are kept by %j", async (rule) => {
    expect(checkExamples(rulesOf(rule), { readCommand: await loadCommandReader(READER) })).toEqual([]);
  });

  it("that are not kept are problems that say so", async () => {
    const rules = rulesOf(
      { tool: "bash", command: "git push *", decision: "deny", match: ["git pull"], not_match: ["ls; git push"] },
      { tool: "*", path: "docs/*", decision: "allow", match: ["docs/a/b"] },
    );
    expect(checkExamples(rules, { readCommand: await loadCommandReader(READER) })).toEqual([
      'config.toml, rule 1: match says that it applies to "git pull", but "deny bash git push *" does not apply to it. Change the rule or the example.',
      'config.toml, rule 1: not_match says that it does not apply to "ls; git push", but "deny bash git push *" applies to it. Change the rule or the example.',
      'config.toml, rule 2: match says that it applies to "docs/a/b", but "allow * docs/*" does not apply to it. Change the rule or the example.',
    ]);
  });

  it("are checked with the profile, and the shell parser is loaded only for commands", async () => {
    let loaded = 0;
    const commandReader = () => {
      loaded += 1;
      return loadCommandReader(READER);
    };
    const path = { tool: "*", path: "a", decision: "deny", match: ["b"] };
    expect(
      (await loadPermissions([{ table: { rules: [path] }, ...USER_FILE }], { commandReader })).problems,
    ).toHaveLength(1);
    expect(loaded).toBe(0);
    const command = { tool: "bash", command: "make", decision: "allow", match: ["make"], not_match: ["make all"] };
    expect(
      (await loadPermissions([{ table: { rules: [command] }, ...USER_FILE }], { commandReader })).problems,
    ).toEqual([]);
    expect(loaded).toBe(1);
  });

  it("need the shell parser only when they are commands", () => {
    expect(needsCommandReader(rulesOf({ tool: "*", path: "a", decision: "deny", match: ["a"] }))).toBe(false);
    expect(needsCommandReader(rulesOf({ tool: "bash", command: "a", decision: "deny" }))).toBe(false);
    expect(needsCommandReader(rulesOf({ tool: "bash", command: "a", decision: "deny", match: ["a"] }))).toBe(true);
  });
});
