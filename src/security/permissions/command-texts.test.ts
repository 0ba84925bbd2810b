import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { slashLine } from "../../commands/test-support/slash-line.js";
import { SAFE_MODE_OFF } from "../safe-mode/safe-mode.js";
import {
  type LoggedDecision,
  type PermissionsState,
  permissionsText,
  securityText,
  verdictJson,
  why,
} from "./command-texts.js";
import { permissionCommands } from "./commands.js";
import { decide, type PermissionPolicy } from "./decide.js";
import { denialText, explain } from "./explain.js";
import type { DecisionFacts } from "./facts.js";
import { ruleToml } from "./lasting-rule.js";
import { parsePermissions } from "./parse-rules.js";
import { pathPermissionFile } from "./path-permissions.js";
import { readCommand } from "./read-command.js";
import { checkExamples } from "./rule-examples.js";
import { lastingRules, SessionRules } from "./session-rules.js";
import { bash, HOME, onPath, otherTool, policyWith, READER, rulesOf, USER_FILE } from "./test-support/sample-policy.js";
import type { Verdict } from "./verdict.js";

let folder: string;
let profile: string;
let state: PermissionsState;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-permissions-"));
  profile = 'model = "x"\n';
  const paths = pathPermissionFile(join(folder, "paths.json"));
  await paths.load();
  const policy = (): PermissionPolicy =>
    policyWith({
      rules: rulesOf(
        { tool: "bash", command: "git push *", decision: "ask", priority: 5 },
        { tool: "*", path: "**/.env", decision: "deny" },
      ),
      paths: paths.current,
    });
  const session = new SessionRules();
  state = {
    policy,
    session,
    paths,
    home: HOME,
    test: async (command) => decide(bash(command), policy(), session.list()),
    decided: () => [],
    keepRules: async (toml) => {
      profile += toml;
      return "config.toml";
    },
  };
});
afterEach(() => rm(folder, { recursive: true }));

const say = (args: string) => slashLine(...permissionCommands(async () => state))(`permissions ${args}`);

function accept(facts: DecisionFacts): void {
  state.session.add(decide(facts, policyWith()).offer ?? [], facts.originator);
}

describe("/permissions", () => {
  it("says that edits ask in mode review", () => {
    const text = permissionsText({ policy: () => policyWith({ mode: "review" }), session: state.session });
    expect(text).toContain("Mode review; reading does not ask; edits ask.");
  });

  it("lists everything", async () => {
    accept(bash("npm run build"));
    accept(onPath("edit", "src/a.ts", { originator: "agent" }));
    await say("set docs r");
    expect((await say("")).text).toBe(
      [
        "Mode ask; reading does not ask; edits inside the workspace do not ask when a sandbox is active.",
        "Rules:",
        "  config.toml",
        "    1. ask bash git push * (priority 5)",
        "    2. deny * **/.env",
        "This session:",
        "  1. bash: npm run build",
        "  2. edit: src/** (also for agents)",
        "Paths:",
        "  r---  docs",
      ].join("\n"),
    );
  });

  it("sets and resets what may be done below a path", async () => {
    expect(await say("set ./src/gen/ rw")).toMatchObject({ ok: true, text: "src/gen  rw--" });
    expect(await say('set "my notes" none')).toMatchObject({ ok: true, text: "my notes  ----" });
    expect((await state.test("cat 'my notes/a'"))?.decidedBy).toBe("path permission my notes ----");
    expect(await say("reset nothing")).toMatchObject({ ok: false });
    expect(await say("reset my notes")).toMatchObject({
      ok: true,
      text: "The path permission for my notes is removed.",
    });
    expect(await say("reset")).toMatchObject({ ok: true, text: "1 path permission removed." });
    expect(state.paths.current.entries).toEqual([]);
  });

  it("says what is wrong with a path or its letters, and changes nothing", async () => {
    expect(await say("set src rwz")).toMatchObject({ ok: false, text: expect.stringContaining('"rwz" is not a set') });
    expect(await say("set ../x r")).toMatchObject({ ok: false, text: expect.stringContaining("leaves the workspace") });
    expect(state.paths.current.entries).toEqual([]);
  });

  it("revokes by number, and numbers stay the same", async () => {
    accept(bash("npm run build"));
    accept(bash("npm run lint"));
    expect(await say("revoke 1")).toMatchObject({ ok: true, text: "Rule 1 is removed." });
    expect(state.session.list().map(({ number }) => number)).toEqual([2]);
    expect(await say("revoke 1")).toMatchObject({ ok: false, text: expect.stringContaining("no rule 1") });
    accept(bash("npm run build"));
    expect(state.session.list().map(({ number }) => number)).toEqual([2, 3]);
    expect((await state.test("npm run lint"))?.decision).toBe("allow");
    expect(await say("revoke all")).toMatchObject({ ok: true, text: "2 rules of this session removed." });
    expect((await state.test("npm run lint"))?.decision).toBe("ask");
  });

  it("promotes a rule to the profile, where it is valid, keeps its example, and decides the same", async () => {
    const calls = [bash("npm run build -- -v"), onPath("edit", "src/[id]/a.ts"), onPath("edit", "top.ts")];
    for (const facts of calls) accept(facts);
    for (const { number } of state.session.list()) expect((await say(`promote ${number}`)).ok).toBe(true);
    const { rules, problems } = parsePermissions(parse(profile).permissions, USER_FILE, { home: HOME });
    expect(problems).toEqual([]);
    expect(checkExamples(rules, { readCommand: (text) => readCommand(text, READER) })).toEqual([]);
    for (const facts of calls)
      expect(decide(facts, policyWith({ rules }))).toMatchObject({ decision: "allow", law: "rule" });
    expect(decide(onPath("edit", "src/i/a.ts"), policyWith({ rules })).decision).toBe("ask");
    expect(parse(profile)).toMatchObject({ model: "x" });
  });

  it("promotes also what only this call was: the exact text of a command, or the tool of an extension", async () => {
    accept(otherTool("mcp__a__b", { args: { x: 1 } }));
    accept(bash("for f in *.md; do sort $f > {$f}; done"));
    for (const { number } of state.session.list()) expect((await say(`promote ${number}`)).ok).toBe(true);
    const { rules, problems } = parsePermissions(parse(profile).permissions, USER_FILE, { home: HOME });
    expect(problems).toEqual([]);
    const judged = (facts: DecisionFacts) => decide(facts, policyWith({ rules })).decision;
    expect(judged(otherTool("mcp__a__b", { args: { x: 2 } }))).toBe("allow");
    expect(judged(otherTool("mcp__a__c"))).toBe("ask");
    expect(judged(bash("for f in *.md; do sort $f > {$f}; done"))).toBe("allow");
    expect(judged(bash("for f in a.md; do sort $f > {$f}; done"))).toBe("ask");
  });

  it("writes texts that TOML reads back, whatever is in them", () => {
    const session = new SessionRules();
    session.add([{ kind: "tool", tool: 'a"b\\c*\u0007\u007f\n€' }], "human");
    const [rule] = session.list();
    const toml = rule === undefined ? "" : lastingRules(rule.draft).map(ruleToml).join("");
    const { rules } = parsePermissions(parse(toml).permissions, USER_FILE);
    expect(rules[0]?.tool.exact).toBe(true);
  });

  it("tests a command", async () => {
    expect((await say('test "git push origin main"')).text).toBe(
      [
        "Needs your answer: git push origin main",
        "By: rule 1 of config.toml",
        "Rule: ask bash git push * (priority 5) (rule 1 of config.toml)",
        "Because: A rule says so.",
        "To change it: Change that rule, or write one with a higher priority.",
      ].join("\n"),
    );
    expect((await say("test ls -la")).text).toMatch(/^Allowed: ls -la\nBy: quiet preset/);
    expect((await say("test npm run build -- x")).text).toContain(
      "You can allow for this session: bash: npm run build *",
    );
  });

  it.each([
    ["what", "test COMMAND | set PATH"],
    ["set", "/permissions set PATH PERMS"],
    ["set src", "PATH is missing"],
    ["revoke", "/permissions revoke N"],
    ["revoke x", "There is no rule x"],
    ["promote", "/permissions promote N"],
    ["test", "/permissions test COMMAND"],
    ["list all", "takes no arguments"],
    ["tset ls", "Did you mean '/permissions test'?"],
  ])("explains itself for %j", async (args, expected) => {
    expect(await say(args)).toMatchObject({ ok: false, text: expect.stringContaining(expected) });
  });

  it("names the part that a decision is about, where there is one", () => {
    const verdict = { decision: "ask", decidedBy: "mode ask", reason: "It asks." } as const;
    const all = { decision: "ask", decided_by: "mode ask", reason: "It asks." };
    expect(verdictJson(verdict as Verdict)).toEqual(all);
    expect(verdictJson({ ...verdict, about: "git push" } as Verdict)).toEqual({ ...all, about: "git push" });
  });

  it("has the same as data", async () => {
    await say("set docs r");
    expect(await say("list")).toMatchObject({
      value: { mode: "ask", rules: [{ number: 1 }, { number: 2 }], paths: [{ path: "docs", access: "r---" }] },
    });
    expect(await say("test git push")).toMatchObject({ value: { command: "git push", decision: "ask" }, exitCode: 4 });
  });
});

describe("/why", () => {
  const verdict = decide(bash("op read x\u001b[2J"), policyWith());

  it("explains the last decision", () => {
    const { text } = why(undefined, () => [{ call: "call_1", summary: "bash: op read x\u001b[2J", verdict }]);
    expect(text).toContain("bash: op read x");
    expect(text).toContain("By: ");
    expect(text).not.toContain("\u001b");
  });

  it("says when there is none", () => {
    expect(why(undefined, () => [])).toMatchObject({ ok: true, text: "There are no decisions yet." });
    expect(why("call_9", () => [])).toMatchObject({ ok: false, text: expect.stringContaining("call_9") });
  });

  it("takes the newest decision of the log, or that of the named call", () => {
    const entry = (call: string, detail: string) => ({
      call: call as LoggedDecision["call"],
      detail,
      outcome: "denied",
      time: "now",
    });
    const decided = { decided_by: "a rule" };
    const logged = [
      { ...entry("call_1", "first"), ...decided },
      { ...entry("call_2", "second"), ...decided },
      entry("call_3", "third"),
    ];
    const detail = (call?: string) => why(call, () => [], logged).text.split("\n")[0];
    expect([detail(), detail("call_1"), detail("call_2")]).toEqual(["second", "first", "second"]);
    expect(why("call_3", () => [], logged)).toMatchObject({ ok: false });
  });

  it("names for each law what would change it", () => {
    const denial = { rules: [{ tool: "bash", command: "make", decision: "deny" }] };
    const ofProject = parsePermissions(denial, { file: ".oxbow/config.toml", scope: "project" }).rules;
    const laws = [
      decide(bash("make"), policyWith({ mode: "deny" })),
      decide(bash("make", { planMode: true }), policyWith()),
      decide(bash("op read x"), policyWith()),
      decide(bash("make"), policyWith({ safeMode: { ...SAFE_MODE_OFF, on: true } })),
      decide(bash("ls"), policyWith()),
      decide(onPath("edit", "a", { sandboxed: true }), policyWith()),
      decide(bash("make"), policyWith({ rules: ofProject })),
    ];
    const hints = [
      "--permission-mode",
      "Approve the plan",
      "lift_blocklist",
      "/safemode",
      "--strict-permissions",
      "edits =",
      "none of your rules can loosen it",
    ];
    laws.forEach((each, index) => {
      expect(explain(each).split("\n").at(-1)).toContain(hints[index]);
    });
  });
});

describe("what the model gets", () => {
  it("names the denied call and the reason, not a way around it", () => {
    const text = denialText(decide(bash("op read x"), policyWith()));
    expect(text).toBe('Denied by blocklist. "op" shows credentials. No answer of the user allows it here.');
  });
});

describe("/security", () => {
  it("shows all of it", () => {
    const text = securityText({
      sandbox: "none: no bwrap",
      safeMode: "Safe mode is off.",
      permissions: "Mode ask.",
      audit: "Audit: empty.",
      planMode: true,
    });
    for (const part of ["Sandbox: none", "Plan mode is on", "Safe mode is off.", "Mode ask.", "Audit: empty."])
      expect(text).toContain(part);
  });
});
