import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { ManualClock, systemClock } from "../../base/clock.js";
import { nodeClock } from "../../system/node-clock.js";
import { processMark } from "../../system/process-identity.js";
import { openGuardList } from "../guard-list/open-guard-list.js";
import { WorkTreeSearch } from "../guard-list/work-tree-search.js";
import { findGuards } from "./guards.js";
import { outsideGitFolder } from "./outside-repository.js";
import { SandboxError } from "./policy.js";
import { PATH, SandboxTestbed } from "./sandbox-testbed.js";

let bed: SandboxTestbed;

beforeEach(() => {
  bed = new SandboxTestbed();
});
afterEach(() => bed.close());

const identity = "-c user.name=n -c user.email=e -c commit.gpgsign=false -c protocol.file.allow=always".split(" ");

function git(folder: string, ...args: string[]): string {
  const env = { PATH, HOME: bed.outside, GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", ["-C", folder, ...identity, ...args], { encoding: "utf8", env, stdio: "pipe" }).trim();
}

/** A repository with one commit. */
function repository(folder: string): string {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  bed.write(join(folder, "file"), "one\n");
  git(folder, "add", "file");
  git(folder, "commit", "-q", "-m", "first");
  return folder;
}

const read = (name: string) => readFileSync(bed.path(name), "utf8");

const COMMIT = `git ${identity.join(" ")} commit -q --allow-empty -m second`;

describe("[P8] guarded paths", () => {
  const guards = (nested: readonly string[] = []) => findGuards({ roots: [bed.workspace], names: [".oxbow"], nested });

  it("in an empty folder: two names that must not be created", () => {
    const places = [bed.path(".git"), bed.path(".oxbow")];
    expect(guards()).toEqual({ pinned: [], readOnly: places, missing: [{ path: places[1] }, { path: places[0] }] });
  });

  it("in a repository: hooks, configuration, and the file that leads to another one", () => {
    repository(bed.workspace);
    const found = guards();
    expect(found.pinned).toEqual([bed.path(".git")]);
    expect(found.readOnly).toEqual(
      [".git/commondir", ".git/config", ".git/hooks", ".oxbow"].map((name) => bed.path(name)),
    );
    expect(found.missing).toContainEqual({ path: bed.path(".git/commondir"), content: ".\n" });
  });

  it("what the configuration names", () => {
    repository(bed.workspace);
    git(bed.workspace, "config", "core.hooksPath", "tools/hooks");
    git(bed.workspace, "config", "include.path", "../team.gitconfig");
    bed.write(bed.path("tools/hooks/pre-commit"), "");
    const found = guards();
    expect(found.readOnly).toEqual(expect.arrayContaining([bed.path("tools/hooks"), bed.path("team.gitconfig")]));
    expect(found.pinned).toEqual([bed.path(".git"), bed.path("tools")]);
    expect(found.missing).toContainEqual({ path: bed.path("team.gitconfig"), content: "" });
  });

  it("what the configuration names, however it is written", () => {
    repository(bed.workspace);
    const link = join(bed.outside, "alias");
    symlinkSync(bed.workspace, link);
    bed.write(bed.path("team.gitconfig"), `[include] path = "more\\"config"\n[CORE]HooksPath = .hooks # ours\n`);
    bed.write(bed.path('more"config'), `[core]\n\thooksPath = ${link}/deep/\\\n  hooks\n`);
    bed.write(
      bed.path(".git/config"),
      `[core]\n; hookspath = not\n[includeIf "gitdir:x"]\n path = ../team.gitconfig\n`,
    );
    const found = guards().readOnly;
    const names = [".hooks", 'more"config', "team.gitconfig", "deep"];
    expect(found).toEqual(expect.arrayContaining(names.map((name) => bed.path(name))));
    expect(found).not.toContain(bed.path("not"));
  });

  it("folders of hooks that a person's own configuration names for every repository", () => {
    repository(bed.workspace);
    bed.write(join(bed.outside, ".gitconfig"), "[core]\n\thooksPath = .githooks\n");
    const list = openGuardList({ roots: [bed.workspace], home: bed.outside, variables: {}, clock: nodeClock });
    const hookFolders = list.hookFolders();
    expect(hookFolders).toEqual([".githooks"]);
    const found = findGuards({ roots: [bed.workspace], names: [], nested: [], hookFolders });
    expect(found.readOnly).toContain(bed.path(".githooks"));
  });

  it("what exists of the guard list, and what a link in it leads to", () => {
    repository(bed.workspace);
    bed.write(bed.path(".git/config"), "[blame]\n\tignoreRevsFile = lists/revs\n[alias]\n\tx = !sh ./tools/x.sh\n");
    const files = [".vscode/tasks.json", ".npmrc", ".cargo/config.toml", ".cargo/registry/a", "deep/down/.envrc"];
    for (const file of [...files, "lists/revs", "tools/x.sh", ".agents/a", "package.json"])
      bed.write(bed.path(file), "x");
    symlinkSync(".agents", bed.path(".claude"));
    const list = openGuardList({ roots: [bed.workspace], home: bed.outside, variables: {}, clock: nodeClock });
    const found = () =>
      findGuards({ roots: [bed.workspace], names: [], nested: list.nested(), places: list.places() }).readOnly;
    const expected = [
      ".vscode",
      ".npmrc",
      ".cargo/config.toml",
      "deep/down/.envrc",
      "lists/revs",
      "tools/x.sh",
      ".agents",
    ];
    expect(found()).toEqual(expect.arrayContaining(expected.map((name) => bed.path(name))));
    for (const name of [".claude", ".cargo", "package.json", "deep", "tools"])
      expect(found()).not.toContain(bed.path(name));
    // Made by a command: at the top it counts, further down the next command may remove it.
    for (const file of [".zed/tasks.json", "samples/one/.npmrc"]) bed.write(bed.path(file), "x");
    list.mayHaveChanged();
    expect(found()).toContain(bed.path(".zed"));
    expect(found()).toContain(bed.path("samples/one/.npmrc"));
  });

  it("is found without waiting for a pipe instead of a configuration", () => {
    repository(bed.workspace);
    execFileSync("sh", ["-c", `rm '${bed.path(".git/config")}'; mkfifo '${bed.path(".git/config")}'`]);
    expect(guards().readOnly).toContain(bed.path(".git/config"));
  });

  it("submodules, worktrees and nested repositories", () => {
    repository(bed.workspace);
    const other = repository(join(bed.outside, "other"));
    git(bed.workspace, "submodule", "--quiet", "add", other, "parts/sub");
    git(bed.workspace, "worktree", "add", "-q", "trees/one");
    repository(bed.path("deep/nested"));
    git(bed.workspace, "init", "-q", "--bare", "bare.git");
    const nested = new WorkTreeSearch(bed.workspace, { clock: systemClock }).find();
    expect(nested).toEqual(["bare.git", "deep/nested", "parts/sub", "trees/one"].map((name) => bed.path(name)));
    const found = guards(nested);
    const wanted = [
      ...["parts/sub/.git", "trees/one/.git", "deep/nested/.git/hooks", "deep/nested/.git/config"],
      ...[".git/modules/parts/sub/config", ".git/modules/parts/sub/hooks", ".git/worktrees/one/commondir"],
      ...["bare.git/hooks", "bare.git/config"],
    ];
    expect(found.readOnly).toEqual(expect.arrayContaining(wanted.map((name) => bed.path(name))));
    expect(found.pinned).toEqual(
      expect.arrayContaining(["deep", "deep/nested", ".git/modules/parts"].map((name) => bed.path(name))),
    );
  });

  it("where the .git of a nested repository leads to", () => {
    repository(bed.path("nested"));
    execFileSync("mv", [bed.path("nested/.git"), bed.path("elsewhere")]);
    symlinkSync("../elsewhere", bed.path("nested/.git"));
    expect(guards([bed.path("nested")]).readOnly).toContain(bed.path("elsewhere/hooks"));
  });

  it("a git folder with a link for a configuration is read-only as a whole", () => {
    repository(bed.workspace);
    execFileSync("mv", [bed.path(".git/config"), join(bed.outside, "config")]);
    symlinkSync(join(bed.outside, "config"), bed.path(".git/config"));
    expect(guards().readOnly).toEqual([bed.path(".git"), bed.path(".oxbow")]);
  });

  it("a link instead of a guarded name is refused", () => {
    symlinkSync(bed.outside, bed.path(".oxbow"));
    expect(() => guards()).toThrow(SandboxError);
  });

  it("many nested repositories are read-only as a whole", () => {
    const folders = Array.from({ length: 20 }, (_, at) => bed.path(`r${at}`));
    for (const folder of folders)
      for (const name of ["HEAD", "config", "objects/x", "hooks/x"]) bed.write(join(folder, ".git", name), "");
    const { readOnly } = guards(folders);
    expect(readOnly).toContain(bed.path("r0/.git/hooks"));
    expect(readOnly).toContain(bed.path("r19/.git"));
  });
});

needs("sandbox").describe("[P8] changing guarded paths", () => {
  const attempts: [what: string, script: string, changed: string][] = [
    ["a new hook", "echo x >.git/hooks/pre-commit", ".git/hooks/pre-commit"],
    ["a hook by rename", "echo x >h; mv h .git/hooks/pre-commit", ".git/hooks/pre-commit"],
    [
      "another folder of hooks",
      "mv .git/hooks .git/old; mkdir .git/hooks; echo x >.git/hooks/pre-commit",
      ".git/hooks/pre-commit",
    ],
    ["another git folder", "mv .git old; cp -r old .git; echo x >.git/hooks/pre-commit", ".git/hooks/pre-commit"],
    [
      "no git folder, then another",
      "rm -rf .git/hooks .git/config; rm -rf .git; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit",
      ".git/hooks/pre-commit",
    ],
    [
      "a link in its place",
      "mkdir evil; echo x >evil/pre-commit; rm -rf .git/hooks; ln -sT ../evil .git/hooks",
      ".git/hooks/pre-commit",
    ],
    ["a setting", "git config core.fsmonitor ./evil", ".git/config"],
    ["a setting by hand", "echo '[core] fsmonitor=./evil' >>.git/config", ".git/config"],
    [
      "the way to another configuration",
      "mkdir evil; cp .git/config evil; echo ../evil >.git/commondir",
      ".git/commondir",
    ],
    ["Oxbow's own folder", "mkdir -p .oxbow; echo x >.oxbow/settings.toml", ".oxbow/settings.toml"],
    ["Oxbow's own folder by rename", "mkdir d; echo x >d/settings.toml; mv -T d .oxbow", ".oxbow/settings.toml"],
  ];
  it.each(attempts)("%s", async (_, script, changed) => {
    repository(bed.workspace);
    const content = () => (existsSync(bed.path(changed)) ? readFileSync(bed.path(changed), "utf8") : "");
    const before = content();
    await bed.inside(script, { env: { HOME: bed.outside } });
    expect(content()).toBe(before);
    expect(existsSync(bed.path(".git/commondir"))).toBe(false);
    expect(git(bed.workspace, "config", "--file", ".git/config", "core.bare")).toBe("false");
    await bed.unprotected(script, { env: { HOME: bed.outside } });
    expect(content()).not.toBe(before);
  });

  it("hooks in the work tree itself, where core.hooksPath is its top", async () => {
    repository(bed.workspace);
    git(bed.workspace, "config", "core.hooksPath", ".");
    const script = "echo x >pre-commit; echo y >h; mv h post-checkout; echo z >ordinary";
    await bed.inside(script, { env: { HOME: bed.outside } });
    expect(["pre-commit", "post-checkout", "ordinary"].map((name) => existsSync(bed.path(name)))).toEqual([
      false,
      false,
      true,
    ]);
    await bed.unprotected(script, { env: { HOME: bed.outside } });
    expect(existsSync(bed.path("pre-commit"))).toBe(true);
  });

  it("hooks in a worktree whose main repository lies outside and names a folder that is missing", () => {
    const main = repository(join(bed.outside, "main"));
    git(main, "config", "core.hooksPath", "team/hooks");
    git(main, "worktree", "add", "-q", bed.path("tree"));
    const found = findGuards({ roots: [bed.path("tree")], names: [], nested: [] });
    expect(found.missing.map(({ path }) => path)).toContain(bed.path("tree/team"));
  });

  it("without a repository: none is made, and nothing is left behind", async () => {
    const script =
      "git init -q || mkdir -p .git/hooks; echo x >.git/hooks/pre-commit; mkdir .oxbow/hooks; rmdir .git .oxbow; mv .git away";
    const ran = await bed.inside(script, { env: { HOME: bed.outside } });
    expect(ran.code).not.toBe(0);
    expect(ran.hint).toMatch(/read-only|replaced/);
    expect(readdirSync(bed.workspace)).toEqual([]);
    await bed.unprotected(script, { env: { HOME: bed.outside } });
    expect(readdirSync(bed.workspace)).not.toEqual([]);
  });

  it("in repositories that an earlier command of the session made", async () => {
    repository(bed.workspace);
    const sandbox = bed.sandbox();
    const run = (script: string) => bed.inside(script, { within: sandbox, env: { HOME: bed.outside } });
    const made = ["a/b/clone", "new", "tree"];
    const prepared = await run("mkdir -p a/b; git clone -q . a/b/clone; git init -q new; git worktree add -q tree");
    expect(prepared).toMatchObject({ code: 0, output: "" });
    const hooks = ["a/b/clone/.git/hooks/pre-commit", "new/.git/hooks/pre-commit", "new/.git/config"];
    const attack = [
      "for f in a/b/clone new; do echo x >$f/.git/hooks/pre-commit; done",
      "git -C new config core.fsmonitor ./evil; rm tree/.git; echo 'gitdir: ../evil' >tree/.git",
    ].join("\n");
    const contents = () => [...hooks, "tree/.git"].map((name) => (existsSync(bed.path(name)) ? read(name) : ""));
    const before = contents();
    expect(before[3]).toContain("gitdir: ");
    await run(attack);
    expect(contents()).toEqual(before);
    // What a command may do there it can still do.
    await run(made.map((folder) => `(cd ${folder}; ${COMMIT})`).join("\n"));
    for (const folder of made) expect(git(bed.path(folder), "log", "-1", "--format=%s")).toBe("second");
    await bed.unprotected(attack);
    expect(contents()).not.toEqual(before);
  });

  it("in a nested repository, also by moving the folders above it", async () => {
    repository(bed.path("deep/nested"));
    const script =
      "mv deep old || mv deep/nested deep/old; mkdir -p deep/nested/.git/hooks; echo x >deep/nested/.git/hooks/pre-commit";
    await bed.inside(script);
    expect(existsSync(bed.path("deep/nested/.git/hooks/pre-commit"))).toBe(false);
    expect(git(bed.path("deep/nested"), "log", "--format=%s")).toBe("first");
    await bed.unprotected(script);
    expect(existsSync(bed.path("deep/nested/.git/hooks/pre-commit"))).toBe(true);
  });

  it("in a worktree, whose .git is a file", async () => {
    repository(bed.workspace);
    git(bed.workspace, "worktree", "add", "-q", "trees/one");
    const before = readFileSync(bed.path("trees/one/.git"), "utf8");
    const script = "echo gitdir: /evil >trees/one/.git; rm -f trees/one/.git; echo /evil >.git/worktrees/one/commondir";
    await bed.inside(script);
    expect(readFileSync(bed.path("trees/one/.git"), "utf8")).toBe(before);
    expect(readFileSync(bed.path(".git/worktrees/one/commondir"), "utf8")).toBe("../..\n");
    expect(
      (await bed.inside(`cd trees/one && ${COMMIT} && git log --format=%s`, { env: { HOME: bed.outside } })).output,
    ).toBe("second\nfirst");
    await bed.unprotected(script);
    expect(existsSync(bed.path("trees/one/.git"))).toBe(false);
  });

  it("leaves work with git as it is, and nothing behind", async () => {
    repository(bed.workspace);
    const before = readdirSync(bed.path(".git")).sort();
    const script = `set -e; echo two >file; git add file; ${COMMIT}; git checkout -q -b topic; git stash list; git gc -q; git log --format=%s | wc -l; git status --short`;
    const ran = await bed.inside(script, { env: { HOME: bed.outside, GIT_CONFIG_NOSYSTEM: "1" } });
    expect(ran).toMatchObject({ code: 0, output: "2" });
    expect(git(bed.workspace, "status", "--short")).toBe("");
    const after = readdirSync(bed.path(".git")).filter((name) => !before.includes(name));
    expect(after.filter((name) => !/^(packed-refs|gc\.pid|info|ORIG_HEAD)$/.test(name))).toEqual([]);
    expect(readdirSync(bed.workspace).sort()).toEqual([".git", "file"]);
  });

  it("keeps the placeholders while another command needs them", async () => {
    const sandbox = bed.sandbox();
    const command = { program: "/bin/sh", args: ["-c", "mkdir .oxbow/x .git/x"], cwd: bed.workspace, env: { PATH } };
    const [first, second] = [await sandbox.wrap(command), await sandbox.wrap(command)];
    await first.ended();
    expect(readdirSync(bed.workspace).sort()).toEqual([".git", ".oxbow"]);
    expect((await bed.run(second)).code).not.toBe(0);
    await second.ended();
    await second.ended();
    expect(readdirSync(bed.workspace)).toEqual([]);
  });

  it("keeps them for the next command a little longer, but not after the session", async () => {
    const clock = new ManualClock();
    const sandbox = bed.sandbox({ sandbox: { lingerMs: 1000, clock } });
    const command = { program: "/bin/true", args: [], cwd: bed.workspace, env: {} };
    const left = () => readdirSync(bed.workspace).sort();
    const first = await sandbox.wrap(command);
    await first.ended();
    clock.advance(999);
    expect(left()).toEqual([".git", ".oxbow"]);
    const second = await sandbox.wrap(command);
    clock.advance(5000);
    expect(left()).toEqual([".git", ".oxbow"]);
    await second.ended();
    clock.advance(1000);
    expect(left()).toEqual([]);
    await (await sandbox.wrap(command)).ended();
    await sandbox.close();
    expect(left()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("removes before a command what a process that was killed has left, as far as it is as it was made", async () => {
    const dead = processMark().replace(/^\d+/, String(spawnSync("true").pid));
    const [note, running] = [`placeholders-${dead}-1.json`, `placeholders-${processMark()}-0.json`];
    const places = [".oxbow", ".git", ".mine"].map((name) => ({ path: bed.path(name) }));
    bed.write(join(bed.state, note), JSON.stringify(places));
    bed.write(join(bed.state, running), JSON.stringify([{ path: bed.path(".theirs") }]));
    for (const name of [".oxbow", ".git", ".mine", ".theirs"]) mkdirSync(bed.path(name));
    bed.write(bed.path(".mine/file"), "filled since");
    await (await bed.wrap("true")).ended();
    expect(readdirSync(bed.workspace).sort()).toEqual([".mine", ".theirs"]);
    expect(readdirSync(bed.state).filter((name) => name.startsWith("placeholders"))).toEqual([running]);
  });

  it("does not remove files that the user put there meanwhile", async () => {
    const wrapped = await bed.wrap("true");
    bed.write(bed.path(".oxbow/settings.toml"), "mine");
    await wrapped.ended();
    expect(readFileSync(bed.path(".oxbow/settings.toml"), "utf8")).toBe("mine");
    expect(existsSync(bed.path(".git"))).toBe(false);
  });

  it("can commit where the repository lies outside, when a person allows its folder", async () => {
    const main = repository(join(bed.outside, "main"));
    git(main, "worktree", "add", "-q", bed.path("tree"));
    const tree = bed.path("tree");
    expect(outsideGitFolder(tree)).toBe(realpathSync(join(main, ".git")));
    const commit = async (writable: string[]) => {
      const sandbox = bed.sandbox({ policy: { writable } });
      const script = `${COMMIT}; code=$?; echo x >${main}/.git/hooks/pre-commit; exit $code`;
      const wrapped = await sandbox.wrap({
        program: "/bin/sh",
        args: ["-c", script],
        cwd: tree,
        env: { PATH, HOME: bed.outside },
      });
      const { code } = await bed.run(wrapped);
      await wrapped.ended();
      return code;
    };
    expect(await commit([tree])).not.toBe(0);
    expect(await commit([tree, join(main, ".git")])).toBe(0);
    expect(existsSync(join(main, ".git/hooks/pre-commit"))).toBe(false);
  });

  it("does not take a planted .git file for a worktree", () => {
    repository(join(bed.outside, "main"));
    bed.write(bed.path(".git"), `gitdir: ${join(bed.outside, "main/.git")}\n`);
    expect(outsideGitFolder(bed.workspace)).toBeUndefined();
  });
});
