import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../protocol/json.js";
import { decide, type PermissionPolicy } from "./decide.js";
import type { Decision, DecisionFacts } from "./facts.js";
import { autoApproved } from "./identity.js";
import { type SessionRuleDraft, SessionRules } from "./session-rules.js";
import {
  bash,
  HOME,
  onPath,
  otherTool,
  pathsOf,
  policyWith,
  rulesOf,
  WORKSPACE,
} from "./test-support/sample-policy.js";
import type { Law } from "./verdict.js";

type Case = readonly [
  what: string,
  facts: DecisionFacts,
  policy: Partial<PermissionPolicy>,
  decision: Decision,
  law: Law,
];

function check(cases: readonly Case[]): void {
  it.each(cases)("%s", (_what, facts, policy, decision, law) => {
    const verdict = decide(facts, policyWith(policy));
    expect([verdict.decision, verdict.law, verdict.reason]).toEqual([decision, law, verdict.reason]);
  });
}

const rule = (...list: readonly JsonObject[]) => ({ rules: rulesOf(...list) });
const SAFE = { on: true, allowed: ["ls", "cat", "find", "timeout"] };
const UNREAD: DecisionFacts = {
  tool: { name: "bash", set: "command", mutating: true, origin: "built-in" },
  args: { command: "rm a" },
  paths: [],
  originator: "human",
  sandboxed: false,
  planMode: false,
};
const PLANNING = { planMode: true };
const SANDBOX = { sandboxed: true };
const LIFT = { tool: "bash", decision: "allow", lift_blocklist: true };

describe("law 1: mode deny", () => {
  check([
    ["denies reading", onPath("read", "a.ts"), { mode: "deny" }, "deny", "mode deny"],
    [
      "whatever a rule allows",
      bash("ls"),
      { mode: "deny", ...rule({ tool: "*", decision: "allow" }) },
      "deny",
      "mode deny",
    ],
  ]);
});

describe("law 2: plan mode", () => {
  check([
    ["denies an edit", onPath("edit", "a.ts", PLANNING), {}, "deny", "plan mode"],
    ["also in mode allow", onPath("edit", "a.ts", PLANNING), { mode: "allow" }, "deny", "plan mode"],
    ["whatever a rule allows", bash("make", PLANNING), rule({ tool: "bash", decision: "allow" }), "deny", "plan mode"],
    ["lets tools read", onPath("read", "a.ts", PLANNING), {}, "allow", "quiet preset"],
    ["lets commands read", bash("ls -la | head -3", PLANNING), {}, "allow", "quiet preset"],
    ["denies a command with one part that writes", bash("ls; touch a", PLANNING), {}, "deny", "plan mode"],
    ["denies what is not understood", bash("ls 'x", PLANNING), {}, "deny", "plan mode"],
  ]);
});

it("plan mode says why, and what to do", () => {
  const reason = (facts: DecisionFacts) => decide(facts, policyWith()).reason;
  expect(reason(onPath("edit", "a.ts", PLANNING))).toBe(
    "Plan mode only reads, and edit makes changes. Put it in the plan.",
  );
  expect(reason(bash("touch a", PLANNING))).toBe(
    'Plan mode runs only what is known to read and stays in the workspace. "touch" changes files. Put it in the plan.',
  );
  expect(reason(bash("touch a", { planMode: "subagent" }))).toBe(
    'This subagent runs only what is known to read and stays in the workspace. "touch" changes files. Say in your answer what should be done.',
  );
});

describe("law 3: the reach of the tool", () => {
  const beyond = onPath("read", "/etc/passwd");
  const paths = beyond.paths.map((path) => ({ ...path, place: "unreachable" as const }));
  check([["denies without a question", { ...beyond, paths }, { mode: "allow" }, "deny", "boundary"]]);
});

describe("a denial that might apply", () => {
  const allow = { tool: "bash", command: "git *", decision: "allow" };
  const deny = { tool: "bash", command: "git push *", decision: "deny" };
  check([
    ["turns an allowance into a question", bash("git pus? origin"), rule(allow, deny), "ask", "rule"],
    ["whatever the order of the rules", bash("git pus? origin"), rule(deny, allow), "ask", "rule"],
    ["a certain one still denies", bash("git push origin"), rule(allow, deny), "deny", "rule"],
    [
      "does not soften a certain denial",
      bash("git pus? origin"),
      rule({ ...allow, decision: "deny" }, deny),
      "deny",
      "rule",
    ],
    [
      "does not override an allowance of a higher priority",
      bash("git pus? origin"),
      rule({ ...allow, priority: 1 }, deny),
      "allow",
      "rule",
    ],
  ]);
});

describe("law 4: the blocklist", () => {
  const allowAll = { mode: "allow", ...rule({ tool: "*", decision: "allow", priority: 99 }) } as const;
  check([
    ["a program that shows credentials", bash("secret-tool lookup a b"), {}, "deny", "blocklist"],
    ["in mode allow and against a wide rule", bash("security dump-keychain"), allowAll, "deny", "blocklist"],
    ["behind another program", bash("sudo keyctl list @u"), allowAll, "deny", "blocklist"],
    ["in a substitution", bash('echo "$(op read x)"'), allowAll, "deny", "blocklist"],
    ["Oxbow's own files by a command", bash("cat ~/.config/oxbow/config.toml"), allowAll, "deny", "blocklist"],
    ["… under a name given in full", bash(`grep x ${HOME}/.local/share/oxbow/s.db`), allowAll, "deny", "blocklist"],
    ["… from elsewhere", bash("cd .. && cat .config/oxbow/config.toml"), allowAll, "deny", "blocklist"],
    ["… by a tool", onPath("read", `${HOME}/.config/oxbow/config.toml`), allowAll, "deny", "blocklist"],
    ["… in other letters", onPath("read", `${HOME}/.Config/Oxbow/config.toml`), allowAll, "deny", "blocklist"],
    ["named in what is not understood", bash("secret-tool lookup 'a"), allowAll, "deny", "blocklist"],
    [
      "a plain rule does not lift it",
      bash("op read x"),
      rule({ tool: "bash", command: "op *", decision: "allow" }),
      "deny",
      "blocklist",
    ],
    ["a lifting one does", bash("op read x"), rule({ ...LIFT, command: "op read *" }), "allow", "rule"],
    ["… for what it names only", bash("op item get x"), rule({ ...LIFT, command: "op read *" }), "deny", "blocklist"],
    [
      "… not for its neighbour",
      bash("op read x; keyctl show"),
      rule({ ...LIFT, command: "op read *" }),
      "deny",
      "blocklist",
    ],
    [
      "… not against a deny",
      bash("op read x"),
      rule({ ...LIFT, command: "op read *" }, { tool: "bash", command: "op *", decision: "deny" }),
      "deny",
      "blocklist",
    ],
  ]);
});

describe("law 5: safe mode", () => {
  const safe = { safeMode: SAFE };
  check([
    ["denies what is not listed", bash("make"), safe, "deny", "safe mode"],
    ["also in mode allow", bash("make"), { mode: "allow", ...safe }, "deny", "safe mode"],
    [
      "whatever a rule allows",
      bash("make"),
      { ...safe, ...rule({ tool: "bash", decision: "allow" }) },
      "deny",
      "safe mode",
    ],
    ["passes what is listed", bash("ls -la"), safe, "allow", "quiet preset"],
    ["which then still may ask", bash("cat /etc/passwd"), safe, "ask", "default"],
    ["does not concern other tools", onPath("edit", "a.ts"), safe, "ask", "default"],
    ["denies a command that was not parsed", UNREAD, { mode: "allow", ...safe }, "deny", "safe mode"],
  ]);
});

describe("law 6: path permissions", () => {
  const paths = pathsOf({ docs: "r", "docs/drafts": "rwxd", secret: "none", "/srv": "none" });
  check([
    ["deny a write", onPath("edit", "docs/a.md", SANDBOX), { paths }, "deny", "path permission"],
    ["also in mode allow", onPath("edit", "docs/a.md"), { mode: "allow", paths }, "deny", "path permission"],
    ["the most specific counts", onPath("edit", "docs/drafts/a.md", SANDBOX), { paths }, "allow", "contained edit"],
    [
      "a name that only begins alike is another",
      onPath("edit", "docs2/a.md", SANDBOX),
      { paths },
      "allow",
      "contained edit",
    ],
    ["grant nothing by themselves", onPath("edit", "docs/drafts/a.md"), { paths }, "ask", "default"],
    [
      "letter case makes no difference",
      onPath("read", "Secret/a"),
      { mode: "allow", paths },
      "deny",
      "path permission",
    ],
    ["deny what a command names", bash("cat secret/a"), { mode: "allow", paths }, "deny", "path permission"],
    ["… in an option", bash("make --file=secret/Makefile"), { mode: "allow", paths }, "deny", "path permission"],
    ["… after a cd", bash("cd secret && cat a"), { mode: "allow", paths }, "deny", "path permission"],
    ["… from another folder", bash("cd src && cat ../secret/a"), { mode: "allow", paths }, "deny", "path permission"],
    ["… as a program", bash("docs/run.sh"), { mode: "allow", paths }, "deny", "path permission"],
    ["… by a redirect", bash("echo x > docs/a.md"), { mode: "allow", paths }, "deny", "path permission"],
    ["… behind a wrapper", bash("sudo rm docs/a.md"), { mode: "allow", paths }, "deny", "path permission"],
    ["… in a text for a shell", bash("bash -c 'cat secret/a'"), { mode: "allow", paths }, "deny", "path permission"],
    ["let a command read what may be read", bash("cat docs/a.md"), { paths }, "allow", "quiet preset"],
    [
      "a search above what may not be read asks",
      onPath("grep", "."),
      { mode: "allow", paths },
      "ask",
      "path permission",
    ],
    [
      "… unless it is denied anyway",
      onPath("grep", "."),
      { paths, ...rule({ tool: "grep", decision: "deny" }) },
      "deny",
      "rule",
    ],
    ["a search beside it does not", onPath("grep", "src"), { paths }, "allow", "quiet preset"],
    ["a search above Oxbow's own files asks", onPath("grep", HOME), { mode: "allow" }, "ask", "path permission"],
  ]);
});

describe("law 7: rules", () => {
  const denyRm = { tool: "bash", command: "rm *", decision: "deny" };
  const allowPush = { tool: "bash", command: "git push *", decision: "allow" };
  check([
    ["allow a command", bash("git push origin main"), rule(allowPush), "allow", "rule"],
    ["… but not its neighbour", bash("git push && make"), rule(allowPush), "ask", "default"],
    ["… together with what only reads", bash("git push && ls"), rule(allowPush), "allow", "rule"],
    ["… not with a redirect", bash("git push > log"), rule(allowPush), "ask", "default"],
    ["… not with a variable", bash("GIT_SSH_COMMAND=./x git push"), rule(allowPush), "ask", "default"],
    ["… not with an option that runs programs", bash("git push --receive-pack=./x"), rule(allowPush), "ask", "default"],
    ["… not with an unknown word", bash('git push "$X"'), rule(allowPush), "ask", "default"],
    ["… not in a loop", bash("for i in 1 2; do git push; done"), rule(allowPush), "ask", "default"],
    ["… not with another in a substitution", bash("git push $(make)"), rule(allowPush), "ask", "default"],
    [
      "several cover several",
      bash("git push; make"),
      rule(allowPush, { ...allowPush, command: "make" }),
      "allow",
      "rule",
    ],
    ["deny one of several", bash("ls && rm -rf a"), { mode: "allow", ...rule(denyRm) }, "deny", "rule"],
    ["deny by full path", bash("/bin/rm a"), { mode: "allow", ...rule(denyRm) }, "deny", "rule"],
    ["deny in other spelling", bash("r'm' a"), { mode: "allow", ...rule(denyRm) }, "deny", "rule"],
    ["deny in capital letters", bash("RM a"), { mode: "allow", ...rule(denyRm) }, "deny", "rule"],
    [
      "deny behind a wrapper",
      bash("find . -name x | xargs -n 1 rm -f"),
      { mode: "allow", ...rule(denyRm) },
      "deny",
      "rule",
    ],
    ["deny in a text for a shell", bash("bash -c 'ls; rm a'"), { mode: "allow", ...rule(denyRm) }, "deny", "rule"],
    ["deny in a loop", bash("for i in 1; do rm $i; done"), { mode: "allow", ...rule(denyRm) }, "deny", "rule"],
    ["ask when it is unknown", bash("$TOOL a"), { mode: "allow", ...rule(denyRm) }, "ask", "rule"],
    ["ask when a shell's text is unknown", bash('bash -c "$X"'), { mode: "allow", ...rule(denyRm) }, "ask", "rule"],
    ["ask when it was not understood", bash("rm 'a"), { mode: "allow", ...rule(denyRm) }, "ask", "rule"],
    ["… as a shell's text", bash(`bash -c 'rm "'`), { mode: "allow", ...rule(denyRm) }, "ask", "rule"],
    ["ask when it was not parsed", UNREAD, { mode: "allow", ...rule(denyRm) }, "ask", "rule"],
    [
      "unknown words do not soften a denial",
      bash("$TOOL a"),
      rule({ tool: "*", decision: "deny" }, { ...denyRm, priority: 1 }),
      "deny",
      "rule",
    ],
    [
      "do not mind a word that looks alike",
      bash("echo rm a"),
      { mode: "allow", ...rule(denyRm) },
      "allow",
      "mode allow",
    ],
    [
      "ask beats allow",
      bash("make"),
      rule({ tool: "*", decision: "allow" }, { tool: "bash", decision: "ask" }),
      "ask",
      "rule",
    ],
    [
      "ask holds in mode allow",
      bash("make"),
      { mode: "allow", ...rule({ tool: "bash", decision: "ask" }) },
      "ask",
      "rule",
    ],
    [
      "deny beats allow",
      bash("make"),
      rule({ tool: "bash", command: "make", decision: "allow" }, { tool: "*", decision: "deny" }),
      "deny",
      "rule",
    ],
    [
      "a higher priority beats both",
      bash("rm -i a"),
      rule(denyRm, { tool: "bash", command: "rm -i *", decision: "allow", priority: 1 }),
      "allow",
      "rule",
    ],
    [
      "… for the command it covers",
      bash("rm -i a; rm b"),
      rule(denyRm, { tool: "bash", command: "rm -i *", decision: "allow", priority: 1 }),
      "deny",
      "rule",
    ],
    [
      "by path",
      onPath("edit", "docs/a.md"),
      rule({ tool: "edit", path: "docs/**", decision: "allow" }),
      "allow",
      "rule",
    ],
    [
      "by path, not outside",
      onPath("read", "/x/docs/a"),
      rule({ tool: "*", path: "**/docs/*", decision: "allow" }),
      "ask",
      "default",
    ],
    [
      "deny by path, also outside",
      onPath("read", "/x/.env"),
      { mode: "allow", ...rule({ tool: "*", path: "**/.env", decision: "deny" }) },
      "deny",
      "rule",
    ],
    [
      "deny by a whole path outside, in other letters",
      onPath("read", "/Srv/Data/a"),
      { mode: "allow", ...rule({ tool: "*", path: "/srv/data/**", decision: "deny" }) },
      "deny",
      "rule",
    ],
    [
      "deny by a whole path that lies in the workspace",
      onPath("read", "docs/a"),
      rule({ tool: "*", path: `${WORKSPACE}/Docs/**`, decision: "deny" }),
      "deny",
      "rule",
    ],
    [
      "deny by path, not the same path below another folder",
      onPath("read", "/x/docs/a"),
      { mode: "allow", ...rule({ tool: "*", path: "docs/**", decision: "deny" }) },
      "allow",
      "mode allow",
    ],
    [
      "deny by path in other letters",
      onPath("read", ".ENV"),
      rule({ tool: "*", path: "**/.env", decision: "deny" }),
      "deny",
      "rule",
    ],
    [
      "deny a command by path",
      bash("cat a/.env"),
      rule({ tool: "*", path: "**/.env", decision: "deny" }),
      "deny",
      "rule",
    ],
    [
      "a path in the home folder",
      onPath("read", `${HOME}/notes/a`),
      rule({ tool: "read", path: "~/notes/**", decision: "allow" }),
      "allow",
      "rule",
    ],
    [
      "do not allow a command by path",
      bash("cat /etc/x"),
      rule({ tool: "*", path: "/etc/**", decision: "allow" }),
      "ask",
      "default",
    ],
    [
      "by argument",
      otherTool("mcp__issues__get", { args: { repo: "ada/notes" } }),
      rule({ tool: "mcp__issues__*", argument: { name: "repo", glob: "ada/*" }, decision: "allow" }),
      "allow",
      "rule",
    ],
    [
      "by argument, when there is none",
      otherTool("mcp__issues__get", { args: {} }),
      rule({ tool: "mcp__issues__*", argument: { name: "repo", glob: "*" }, decision: "allow" }),
      "ask",
      "default",
    ],
    [
      "by argument, not from the prototype",
      otherTool("x", { args: {} }),
      rule({ tool: "x", argument: { name: "constructor", glob: "*" }, decision: "allow" }),
      "ask",
      "default",
    ],
    [
      "by originator",
      bash("make", { originator: "agent" }),
      rule({ tool: "bash", decision: "allow" }, { tool: "bash", originator: "agent", decision: "deny" }),
      "deny",
      "rule",
    ],
    [
      "by originator, not for others",
      bash("make"),
      rule({ tool: "bash", decision: "allow" }, { tool: "bash", originator: "agent", decision: "deny" }),
      "allow",
      "rule",
    ],
    [
      "a command of * is every command",
      bash("ls 'x"),
      rule({ tool: "bash", command: "*", decision: "allow" }),
      "allow",
      "rule",
    ],
  ]);

  it("takes the strictest over several files", () => {
    const facts = onPath("apply_patch", "docs/a.md");
    const more = onPath("apply_patch", "src/a.ts").paths;
    const rules = rulesOf({ tool: "apply_patch", path: "docs/**", decision: "allow" });
    expect(decide(facts, policyWith({ rules })).decision).toBe("allow");
    expect(decide({ ...facts, paths: [...facts.paths, ...more] }, policyWith({ rules })).decision).toBe("ask");
  });

  it("names the rule and its own reason", () => {
    const rules = rulesOf(
      { tool: "*", decision: "deny" },
      { tool: "bash", command: "git push *", decision: "deny", reason: "Pushes are reviewed." },
    );
    const verdict = decide(bash("ls; git push"), policyWith({ rules }));
    expect(verdict).toMatchObject({ decidedBy: "rule 1 of config.toml", about: "ls" });
    expect(decide(bash("git push"), policyWith({ rules }))).toMatchObject({
      decidedBy: "rule 2 of config.toml",
      reason: "Pushes are reviewed.",
    });
  });
});

describe("law 8: mode allow", () => {
  check([
    ["allows commands", bash("make"), { mode: "allow" }, "allow", "mode allow"],
    ["allows edits", onPath("edit", ".env", { sensitive: "secrets" }), { mode: "allow" }, "allow", "mode allow"],
    ["allows extensions", otherTool("mcp__a__b"), { mode: "allow" }, "allow", "mode allow"],
  ]);
});

describe("law 10: the quiet preset", () => {
  check([
    ["reading a file", onPath("read", "src/a.ts"), {}, "allow", "quiet preset"],
    ["… unless strict", onPath("read", "src/a.ts"), { preset: "strict" }, "ask", "default"],
    ["… not a sensitive one", onPath("read", ".env", { sensitive: "secrets" }), {}, "ask", "default"],
    ["… not outside", onPath("read", "/etc/hosts"), {}, "ask", "default"],
    ["a command that reads", bash("grep -rn x src | head"), {}, "allow", "quiet preset"],
    ["… unless strict", bash("ls"), { preset: "strict" }, "ask", "default"],
    ["… not one that writes", bash("ls > a"), {}, "ask", "default"],
    ["… not with a substitution", bash("ls $(pwd)"), {}, "ask", "default"],
    ["… not with one in what it prints", bash('echo "$(ls)"'), {}, "ask", "default"],
    ["… not in a loop", bash("for i in 1; do ls; done"), {}, "ask", "default"],
    [
      "… not of an extension",
      bash("ls", { tool: { name: "run", set: "command", mutating: true, origin: "extension" } }),
      {},
      "ask",
      "default",
    ],
    [
      "what reaches other machines",
      otherTool("web_fetch", {
        mutating: false,
        tool: { name: "web_fetch", set: "web", mutating: false, network: true, origin: "built-in" },
      }),
      {},
      "ask",
      "default",
    ],
    ["what an extension says about itself", otherTool("mcp__a__read", { mutating: false }), {}, "ask", "default"],
    [
      "a built-in tool without files",
      { ...onPath("read", "x"), tool: { name: "todo", set: "read", mutating: false, origin: "built-in" }, paths: [] },
      {},
      "allow",
      "quiet preset",
    ],
  ]);
});

describe("law 11: contained edits", () => {
  check([
    ["in a sandbox", onPath("edit", "src/a.ts", SANDBOX), {}, "allow", "contained edit"],
    ["without one", onPath("edit", "src/a.ts"), {}, "ask", "default"],
    ["when the profile asks", onPath("edit", "src/a.ts", SANDBOX), { edits: "ask" }, "ask", "default"],
    ["in mode review", onPath("edit", "src/a.ts", SANDBOX), { mode: "review" }, "ask", "mode review"],
    ["outside", onPath("write", "/tmp/a", SANDBOX), {}, "ask", "default"],
    ["without a known file", { ...onPath("apply_patch", "a", SANDBOX), paths: [] }, {}, "ask", "default"],
    [
      "by an extension",
      { ...onPath("edit", "a", SANDBOX), tool: { name: "edit", set: "edit", mutating: true, origin: "extension" } },
      {},
      "ask",
      "default",
    ],
    ["not of commands", bash("touch a", SANDBOX), {}, "ask", "default"],
  ]);
});

describe("guarded paths", () => {
  const hook = onPath("write", ".git/hooks/pre-commit", SANDBOX);
  const named = { ...onPath("write", "lists/revs", SANDBOX) };
  const byState = { ...named, paths: named.paths.map((path) => ({ ...path, guarded: "git obeys it" })) };
  const allowing = (path: string) => rule({ tool: "write", path, decision: "allow" });
  const ofProject = rulesOf({ tool: "write", path: ".git/hooks/pre-commit", decision: "allow" }).map((each) => ({
    ...each,
    source: { file: "p", scope: "project" } as const,
  }));
  check([
    ["ask in a sandbox", hook, {}, "ask", "guarded"],
    ["ask in mode allow", hook, { mode: "allow" }, "ask", "guarded"],
    ["ask however they are spelled", onPath("write", "a/.GIT./config", SANDBOX), { mode: "allow" }, "ask", "guarded"],
    ["ask for what the repository's state adds", byState, { mode: "allow" }, "ask", "guarded"],
    ["ask for agents' files", onPath("edit", ".agents/skills/x.md", SANDBOX), { mode: "allow" }, "ask", "guarded"],
    ["ask although a wide rule allows", hook, allowing("**"), "ask", "guarded"],
    ["ask although a rule allows the folder", hook, allowing(".git/hooks/*"), "ask", "guarded"],
    ["pass with a rule for exactly this path", hook, allowing(".git/hooks/pre-commit"), "allow", "rule"],
    ["… but not with a rule of the project", hook, { rules: ofProject }, "ask", "guarded"],
    ["are denied by a rule that denies", hook, rule({ tool: "write", path: "**", decision: "deny" }), "deny", "rule"],
    ["may be read", onPath("read", ".git/HEAD", SANDBOX), {}, "allow", "quiet preset"],
    [
      "ask for a command that writes them",
      bash("cp a .git/hooks/pre-commit", SANDBOX),
      { mode: "allow" },
      "ask",
      "guarded",
    ],
    ["ask for a redirect", bash("echo x > .vscode/tasks.json", SANDBOX), { mode: "allow" }, "ask", "guarded"],
    ["do not ask for a command that reads them", bash("cat .vscode/tasks.json", SANDBOX), {}, "allow", "quiet preset"],
  ]);

  const CONTAINED = { ...SANDBOX, contained: true };
  const AUTO = { mode: "auto" } as const;
  check([
    ...[
      ".git/hooks/pre-commit",
      "./.husky/pre-commit --fast",
      "sh .husky/pre-commit",
      "bash -x .husky/pre-commit",
      "source .envrc",
      ". ./.envrc",
      "node -r ./.claude/hook.js index.js",
      "env A=1 .vscode/run.sh",
      "timeout 5 ./.vscode/run.sh",
      "nice env -i A=1 .vscode/run.sh",
      "find . -name x -exec .vscode/run.sh {} ;",
      "sudo sh .git/hooks/post-checkout",
      "cd .husky && ./pre-commit",
      "bash -c '.husky/pre-commit'",
    ].map((command): Case => [`ask before ${command}`, bash(command, CONTAINED), AUTO, "ask", "guarded"]),
    ...[
      "node build.js .vscode/settings.json",
      "python3 tools/x.py a .claude/settings.json",
      "bash -c 'cat lib/.vimrc'",
      "sh -c 'ls lib/.git/hooks'",
      "./scripts/test.sh",
      "/home/me/.local/bin/ruff check",
    ].map(
      (command): Case => [`do not run in ${command}`, bash(command, CONTAINED), AUTO, "allow", "contained command"],
    ),
    ...(
      [
        ["sh .husky/pre-commit", "allow", "rule"],
        ["source .envrc", "allow", "rule"],
        ["touch .envrc", "ask", "guarded"],
        ["touch .vscode/tasks.json", "ask", "guarded"],
      ] as const
    ).map(([command, decision, law]): Case => {
      const exactly = rule({ tool: "bash", command, decision: "allow" });
      return [`${decision} with a rule for exactly ${command}`, bash(command, CONTAINED), exactly, decision, law];
    }),
    [
      "may run in mode allow only when the person agrees",
      bash(".husky/pre-commit"),
      { mode: "allow" },
      "ask",
      "guarded",
    ],
  ]);

  it("that run are not granted for changes", () => {
    const { reason, guarded } = decide(bash(".husky/pre-commit", CONTAINED), policyWith(AUTO));
    expect(reason).toBe(".husky/pre-commit would run, and it is guarded: git hooks run what it says.");
    expect(guarded).toBeUndefined();
  });

  it("are not allowed by session rules, nor by --auto-approve", () => {
    const session = new SessionRules();
    session.add([{ kind: "tool", tool: "write" }], "human");
    const verdict = decide(hook, policyWith({}), session.list());
    expect([verdict.decision, verdict.law, verdict.offer]).toEqual(["ask", "guarded", []]);
    expect(verdict.guarded).toEqual([`${WORKSPACE}/.git/hooks/pre-commit`]);
    expect(autoApproved(verdict).decision).toBe("ask");
  });

  it("are all named in the question", () => {
    const other = onPath("apply_patch", ".npmrc", SANDBOX);
    const both = { ...other, paths: [...onPath("apply_patch", "src/a.ts").paths, ...other.paths, ...hook.paths] };
    const { reason, guarded } = decide(both, policyWith({ mode: "allow" }));
    expect(reason).toContain(".npmrc is guarded");
    expect(reason).toContain(".git/hooks/pre-commit is guarded");
    expect(guarded).toHaveLength(2);
  });
});

describe("the rules of a session", () => {
  const draft = (tool: string): SessionRuleDraft => ({ kind: "tool", tool });
  const listed = (rules: SessionRules) => rules.list().map(({ number, originator }) => [number, originator]);

  it("keep their numbers, in a branch too, and none comes twice for the same originator", () => {
    const rules = new SessionRules();
    rules.add([draft("a"), draft("b")], "human", { since: 3 });
    rules.add([draft("a"), draft("c")], "human", { since: 9 });
    rules.add([draft("a")], "agent", { since: 9 });
    expect(listed(rules)).toEqual([1, 2, 3].map((number) => [number, "human"]).concat([[4, "agent"]]));
    expect([rules.revoke(2), rules.revoke(2), rules.find(2)]).toEqual([true, false, undefined]);
    const branch = rules.until(3);
    expect(listed(branch)).toEqual([[1, "human"]]);
    expect(branch.add([draft("d")], "human").map(({ number }) => number)).toEqual([5]);
    rules.settle();
    expect(listed(rules.until(0))).toEqual(listed(rules));
    expect([rules.clear(), rules.list()]).toEqual([3, []]);
  });
});

describe("a yes lets nothing out", () => {
  const TIGHT = { sandboxed: true, contained: true };
  const STRICT = { mode: "auto", preset: "strict" } as const;
  const ASK_FIRST = { mode: "auto", ...rule({ tool: "*", decision: "ask" }) } as const;
  const fetch: DecisionFacts = {
    ...otherTool("web_fetch"),
    tool: { name: "web_fetch", set: "web", mutating: false, network: true, origin: "built-in" },
  };
  const extension: DecisionFacts = {
    ...bash("make", TIGHT),
    tool: { name: "make", set: "command", mutating: true, origin: "extension" },
  };
  const secret = onPath("read", "src/a.pem").paths.map((path) => ({ ...path, sensitive: "it is a key" }));
  const paths = [...onPath("apply_patch", "src/a.ts").paths, ...secret];
  const cases: readonly (readonly [string, DecisionFacts, Partial<PermissionPolicy>, true | undefined])[] = [
    ["of a command in the tight sandbox", bash("make", TIGHT), {}, true],
    ["of a command that deletes much", bash("rm -rf ./*", TIGHT), { mode: "auto" }, true],
    ["of a command that a rule asks about", bash("make", TIGHT), ASK_FIRST, true],
    ["of a command with the strict preset", bash("make", TIGHT), STRICT, true],
    ["of an edit in the workspace, without a sandbox too", onPath("edit", "src/a.ts"), {}, true],
    ["but not of a command without a sandbox", bash("make"), {}, undefined],
    ["but not of one in the usual sandbox", bash("make", SANDBOX), {}, undefined],
    ["but not of one that writes .git", bash("git commit -m x", TIGHT), { mode: "auto" }, undefined],
    ["but not of one with a part that writes .git", bash("make && git add .", TIGHT), { mode: "auto" }, undefined],
    ["but not of one that needs the network", bash("npm install left-pad", TIGHT), {}, undefined],
    ["but not of one that shows a secret file", bash("cat .env", TIGHT), STRICT, undefined],
    ["but not of one at a guarded path", bash("mkdir .vscode", TIGHT), {}, undefined],
    ["but not of a tool that connects elsewhere", fetch, {}, undefined],
    ["but not of a tool of an extension", extension, {}, undefined],
    ["but not of reading outside", onPath("read", "/etc/passwd"), {}, undefined],
    ["but not of reading a secret file", { ...onPath("read", "src/a.pem"), paths: secret }, {}, undefined],
    ["but not of editing a secret file among others", { ...onPath("apply_patch", "src/a.ts"), paths }, {}, undefined],
    ["but not of an edit at an unknown place", { ...onPath("edit", "a.ts"), paths: [] }, {}, undefined],
  ];
  it.each(cases)("%s", (_what, facts, policy, contained) => {
    const verdict = decide(facts, policyWith(policy));
    expect([verdict.decision, verdict.contained]).toEqual(["ask", contained]);
    expect(autoApproved(verdict).decision).toBe(contained ? "allow" : "ask");
  });
});

describe("law 9: the session", () => {
  function accepted(facts: DecisionFacts, then: DecisionFacts, policy: Partial<PermissionPolicy> = {}): Decision {
    const session = new SessionRules();
    const question = decide(facts, policyWith(policy));
    expect(question.decision).toBe("ask");
    session.add(question.offer ?? [], facts.originator);
    return decide(then, policyWith(policy), session.list()).decision;
  }
  const added = (draft: SessionRuleDraft) => {
    const session = new SessionRules();
    session.add([draft], "human");
    return session.list();
  };

  it("allows the pattern that was offered", () => {
    expect(accepted(bash("npm run build"), bash("npm run build -- --fast"))).toBe("ask");
    expect(accepted(bash("npm run build -- -v"), bash("npm run build -- --fast"))).toBe("allow");
    expect(accepted(bash("git commit -m a"), bash("git commit -m b && ls"))).toBe("allow");
    expect(accepted(bash("git add a && git commit -m b"), bash("git commit -m c"))).toBe("allow");
    expect(accepted(bash("git commit -m a"), bash("git commit -m b && make"))).toBe("ask");
    expect(accepted(bash("git commit -m a"), bash("git commit -m b > x"))).toBe("ask");
    expect(accepted(bash("git commit -m a"), bash('git commit -m "$(make)"'))).toBe("ask");
  });

  it("allows only the same command where no pattern is safe", () => {
    expect(accepted(bash("rm -rf build"), bash("rm -rf build"))).toBe("allow");
    expect(accepted(bash("rm -rf build"), bash("rm -rf src"))).toBe("ask");
    expect(accepted(bash("echo 'x"), bash("echo 'x"))).toBe("allow");
    expect(accepted(bash("echo 'x"), bash("echo 'y"))).toBe("ask");
    expect(accepted(bash("make && rm x"), bash("make"))).toBe("ask");
  });

  it("allows the folder of a file, but nothing sensitive in it", () => {
    expect(accepted(onPath("edit", "src/a/x.ts"), onPath("edit", "src/a/b/y.ts"))).toBe("allow");
    expect(accepted(onPath("edit", "src/a/x.ts"), onPath("edit", "src/b.ts"))).toBe("ask");
    expect(accepted(onPath("edit", "src/x.ts"), onPath("edit", "src/.env", { sensitive: "secrets" }))).toBe("ask");
    expect(accepted(onPath("edit", "top.ts"), onPath("edit", "other.ts"))).toBe("ask");
    expect(accepted(onPath("read", ".env", { sensitive: "s" }), onPath("read", ".env", { sensitive: "s" }))).toBe(
      "allow",
    );
    expect(accepted(onPath("edit", "pages/[id]/x.ts"), onPath("edit", "pages/[id]/y.ts"))).toBe("allow");
    expect(accepted(onPath("edit", "pages/[id]/x.ts"), onPath("edit", "pages/i/y.ts"))).toBe("ask");
  });

  it("allows the host of an address", () => {
    const fetch = (url: string): DecisionFacts => ({
      ...otherTool("web_fetch", { args: { url } }),
      tool: { name: "web_fetch", set: "web", mutating: false, network: true, origin: "built-in" },
    });
    expect(accepted(fetch("https://docs.rs/a"), fetch("https://docs.rs/b?c"))).toBe("allow");
    expect(accepted(fetch("https://docs.rs"), fetch("https://docs.rs/b"))).toBe("allow");
    expect(accepted(fetch("https://docs.rs/a"), fetch("https://docs.rs.evil.example/a"))).toBe("ask");
    expect(accepted(fetch("https://docs.rs/a"), fetch("http://docs.rs/a"))).toBe("ask");
    expect(accepted(fetch("https://docs.rs@evil.example/"), fetch("https://docs.rs/"))).toBe("ask");
  });

  it("allows only the same call of an extension, in whatever order its arguments stand", () => {
    const call = (args: JsonObject) => otherTool("mcp__a__b", { args });
    expect(accepted(call({ a: 1, b: { c: 2, d: 3 } }), call({ b: { d: 3, c: 2 }, a: 1 }))).toBe("allow");
    expect(accepted(call({ a: 1 }), call({ a: 2 }))).toBe("ask");
    const save = (path: string) => ({ ...onPath("edit", path), tool: call({}).tool });
    expect(accepted(save("src/a"), save("src/a"))).toBe("allow");
    expect(accepted(save("src/a"), save("src/b"))).toBe("ask");
  });

  it("allows a whole tool, never another", () => {
    const session = added({ kind: "tool", tool: "bash" });
    expect(decide(bash("make"), policyWith(), session)).toMatchObject({
      decision: "allow",
      decidedBy: "session rule 1",
    });
    expect(decide(onPath("edit", "a"), policyWith(), session).decision).toBe("ask");
  });

  it("does not lift a rule, the blocklist, safe mode, path permissions or plan mode", () => {
    const session = added({ kind: "tool", tool: "bash" });
    const laws: readonly Partial<PermissionPolicy>[] = [
      rule({ tool: "bash", decision: "ask" }),
      rule({ tool: "bash", command: "make", decision: "deny" }),
      { safeMode: SAFE },
      { mode: "deny" },
    ];
    for (const policy of laws) expect(decide(bash("make"), policyWith(policy), session).decision).not.toBe("allow");
    expect(decide(bash("op read x"), policyWith(), session).decision).toBe("deny");
    expect(decide(bash("make", PLANNING), policyWith(), session).decision).toBe("deny");
    expect(decide(bash("cat s/a"), policyWith({ paths: pathsOf({ s: "none" }) }), session).decision).toBe("deny");
  });

  it("does not carry a person's own allowances over to an agent's turn", () => {
    const agent = { originator: "agent" } as const;
    expect(accepted(bash("make"), bash("make", agent))).toBe("ask");
    expect(accepted(bash("make", agent), bash("make"))).toBe("allow");
  });

  it("offers nothing where a rule asks", () => {
    const question = decide(bash("make"), policyWith(rule({ tool: "bash", command: "make", decision: "ask" })));
    expect(question).toMatchObject({ decision: "ask", offer: [] });
  });
});
