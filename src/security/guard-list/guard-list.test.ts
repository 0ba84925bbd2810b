import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeClock } from "../../system/node-clock.js";
import { GuardList } from "./guard-list.js";
import { guardedName } from "./guarded-names.js";
import { OwnFiles } from "./own-files.js";

let base: string;
let root: string;
let home: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "guard-list-")));
  root = join(base, "project");
  home = join(base, "home");
  mkdirSync(root);
  mkdirSync(home);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function open(): GuardList {
  const variables = { PATH: process.env.PATH, HOME: home };
  return new GuardList({ roots: [root], home, variables, clock: nodeClock });
}

function git(...args: string[]): void {
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", args, { cwd: root, env, stdio: "ignore" });
}

function put(path: string, text = ""): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const guarded = (path: string, list = open()) => list.reason(join(root, path)) !== undefined;

describe("the target of a symbolic link at a guarded name", () => {
  it("is guarded like the link: of hooks, editors and agents, also before it exists", () => {
    git("init", "-q");
    git("config", "core.hooksPath", "checks");
    const links = {
      ".git/hooks/pre-commit": ["../../scripts/pre-commit.sh", "scripts/pre-commit.sh"],
      "checks/pre-push": ["../scripts/push.sh", "scripts/push.sh"],
      ".vscode": ["editor", "editor/tasks.json"],
      ".claude/skills": ["../skills", "skills/a/SKILL.md"],
      ".mcp.json": [join(root, "later/servers.json"), "later/servers.json"],
      ".envrc": ["first", "second"],
    } as const;
    put("editor/a");
    put("scripts/push.sh");
    put("scripts/other.sh");
    symlinkSync("second", join(root, "first"));
    for (const [name, [target]] of Object.entries(links)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      symlinkSync(target, join(root, name));
    }
    const list = open();
    for (const [name, [, path]] of Object.entries(links))
      expect(list.reason(join(root, path))).toContain(`the symbolic link ${name}: `);
    // Another link in between may be replaced.
    expect(guarded("first", list)).toBe(true);
    expect(["scripts/other.sh", "skillset", "later/b"].filter((path) => guarded(path, list))).toEqual([]);
  });

  it("guards nothing when it is everything, lies outside, or leads in a circle", () => {
    git("init", "-q");
    for (const [name, target] of Object.entries({
      ".vscode": ".",
      ".idea": base,
      ".zed": ".zed",
      ".envrc": "/etc/hostname",
    }))
      symlinkSync(target, join(root, name));
    put("tasks.json");
    expect(guarded("tasks.json")).toBe(false);
  });
});

describe("names", () => {
  it.each([
    ...[
      ".git",
      ".git/commondir",
      ".git/rebase-merge/git-rebase-todo",
      ".git/worktrees/x/commondir",
      "lib/.git",
      "lib/.git/config",
    ],
    ...[".hg/hgrc", ".jj/repo/config.toml", ".svn/entries", ".bzr/branch/branch.conf", "a/b/.hg/hgrc"],
    ...[".vscode/tasks.json", ".idea/workspace.xml", ".zed/tasks.json", ".fleet/run.json", ".kiro/settings/mcp.json"],
    ...[
      ".gemini/extensions/x/gemini-extension.json",
      ".agents/skills/a/SKILL.md",
      ".claude/settings.json",
      ".codex/config.toml",
    ],
    ...[
      ".cursor/mcp.json",
      ".windsurf/rules/a.md",
      ".continue/config.json",
      ".aider.conf.yml",
      ".roo/mcp.json",
      ".roomodes",
    ],
    ...[".clinerules", ".clinerules/a.md", ".oxbow/config.toml", ".mcp.json", "opencode.json", ".github/hooks/a.json"],
    ...[
      ".cargo/config.toml",
      ".cargo/config",
      "crates/a/.cargo/config.toml",
      ".pnpmfile.cjs",
      ".yarnrc.yml",
      ".yarn/plugins/a.cjs",
    ],
    ...[
      ".yarn/releases/yarn-4.cjs",
      ".npmrc",
      "packages/a/.npmrc",
      "bunfig.toml",
      "pip.conf",
      ".mvn/extensions.xml",
      "uv.toml",
    ],
    ...[
      ".envrc",
      ".tool-versions",
      "mise.toml",
      ".mise.toml",
      ".config/mise/config.toml",
      ".mise/config.toml",
      ".devcontainer/a.json",
    ],
    ...[
      ".husky/pre-commit",
      "lefthook.yml",
      ".lefthook.yaml",
      ".pre-commit-config.yaml",
      ".githooks/pre-commit",
      ".gitmodules",
    ],
    ...[
      ".lldbinit",
      ".gdbinit",
      ".vimrc",
      ".exrc",
      ".nvim.lua",
      ".dir-locals.el",
      "sitecustomize.py",
      "a.code-workspace",
    ],
    ...[
      ".bashrc",
      ".zshenv",
      ".profile",
      ".ssh/config",
      ".GIT/config",
      ".Git /hooks/x",
      ".g\u200cit/hooks/x",
      "GIT~1/config",
    ],
    ...[".VSCode/tasks.json", ".npmrc.", ".NPMRC", "gradle/wrapper/gradle-wrapper.properties", "rust-toolchain.toml"],
    ...[
      ".claude/.git/x.txt",
      ".git/.claude/x.txt",
      ".clinerules/a.txt",
      ".oxbow/a.txt",
      ".luarc.json",
      ".flox/env/manifest.toml",
    ],
  ])("guards %s", (path) => expect(guardedName(path)).toBeDefined());

  it.each([
    ...[
      "package.json",
      "package-lock.json",
      "Makefile",
      "src/index.ts",
      "README.md",
      "AGENTS.md",
      "CLAUDE.md",
      "docs/git/config",
    ],
    ...[
      ".github/workflows/ci.yml",
      ".github/dependabot.yml",
      ".gitignore",
      ".gitattributes",
      ".editorconfig",
      ".eslintrc.json",
    ],
    ...[
      ".prettierrc",
      "tsconfig.json",
      "Cargo.toml",
      "pyproject.toml",
      "go.mod",
      "build.gradle",
      "pom.xml",
      "conftest.py",
    ],
    ...[
      "Dockerfile",
      ".dockerignore",
      ".nvmrc",
      ".node-version",
      "config",
      "hooks/useThing.ts",
      "refs/a",
      "objects/b",
      "git/a",
    ],
    ...[
      "scripts/pre-commit",
      "vite.config.ts",
      ".storybook/main.ts",
      ".changeset/a.md",
      ".yarn/cache/a.zip",
      "node_modules/a/b.js",
    ],
  ])("leaves %s alone", (path) => expect(guardedName(path)).toBeUndefined());

  const MORE = {
    "version control":
      "CVS/Root _FOSSIL_ .fslckout .p4config .sapling/config _MTN/monotonerc .lfsconfig .hgsub .dvc/config.local .west/config",
    hooks:
      ".lintstagedrc .lintstagedrc.mjs lint-staged.config.js hk.pkl captainhook.json .trunk/trunk.yaml .simple-git-hooks.mjs grumphp.yml",
    editors:
      ".clangd .ccls hie.yaml .merlin .ycm_extra_conf.py .factorypath .settings/a.prefs a.iws src/.a.suo CMakeLists.txt.user .lsp/config.edn a/omnisharp.json .local.vimrc .vimspector.json .ctags",
    shells:
      ".envrc.local .autoenv_leave.zsh .rvmrc .pyenv-vars .tmuxinator.yml flake.nix shell.nix devbox.json mise-tasks/a bin/activate-hermit pkgx.yaml .actrc",
    interpreters:
      ".iex.exs .erlang .byebugrc .rdbgrc .gdbearlyinit .valgrindrc .RData .nrepl.edn .psysh.php jupyter_server_config.py ipython_config.py",
    builds:
      "user.bazelrc .bazelrc.user tools/bazel.rc .pants.rc .plzconfig.local .gradle/init.gradle.kts .m2/settings.xml .corepack.env poetry.toml .pixi/config.toml .sbtrc",
    // Whatever the agent is called.
    agents:
      ".newagent/mcp.json .newagent/settings.local.json .newagent/hooks/a.sh .newagent/skills/a/SKILL.md .crush.json .opencode.json a/mcp-config.jsonc .mcp.yaml .serena/project.yml gptme.toml",
  };
  it.each(Object.entries(MORE))("guards files of %s", (_, paths) => {
    expect(paths.split(" ").filter((path) => guardedName(path) === undefined)).toEqual([]);
  });

  it("leaves sources, settings of linters and samples alone", () => {
    const paths =
      "build.rs gradlew gradle.properties deno.json .eslintrc.js .pylintrc .python-version .envrc.example .bsp/sbt.json " +
      "locales/global.json pnpm-workspace.yaml .gitpod.yml .github/copilot-instructions.md settings.json hooks/a.sh cvs/ann.pdf mcp.md mcp-server.ts bin/tool bins/hermit.md docs/mcp/a.json";
    expect(paths.split(" ").filter((path) => guardedName(path) !== undefined)).toEqual([]);
  });
});

describe("git folders", () => {
  it("are guarded under any name, also when they are made of plain files", () => {
    for (const part of ["HEAD", "config", "objects/a", "refs/heads/a"]) put(`store/${part}`);
    for (const path of ["store/config", "store/hooks/pre-commit", "store/a/b", "store/new"]) {
      expect(guarded(path), path).toBe(true);
    }
    expect(guarded("other/config")).toBe(false);
  });

  it("are guarded before the part that makes them one is written, in any order", () => {
    expect(guarded("lib/HEAD")).toBe(true);
    put("lib/config");
    put("lib/objects/a");
    put("lib/refs/a");
    expect(guarded("lib/HEAD")).toBe(true);
    put("half/HEAD");
    for (const part of ["config", "commondir", "objects/a", "refs/a", "hooks/a"])
      expect(guarded(`half/${part}`)).toBe(true);
    expect(guarded("half/notes.txt")).toBe(false);
  });

  it("are guarded where a worktree's file leads", () => {
    put("tree/.git", "gitdir: ../meta/x\n");
    put("meta/x/HEAD");
    put("meta/x/commondir", "../common\n");
    expect(guarded("meta/x/commondir")).toBe(true);
  });
});

describe("what git's settings name", () => {
  it.each([
    ["core.hooksPath", "ci/hooks", "ci/hooks/pre-commit"],
    ["core.hooksPath", ".", "pre-commit"],
    ["include.path", "../extra.gitconfig", "extra.gitconfig"],
    ["includeIf.onbranch:none.path", "../deep/other", "deep/other"],
    ["core.fsmonitor", "tools/monitor", "tools/monitor"],
    ["core.excludesFile", "lists/ignore", "lists/ignore"],
    ["core.attributesFile", "attributes", "attributes"],
    ["blame.ignoreRevsFile", ".git-blame-ignore-revs", ".git-blame-ignore-revs"],
    ["commit.template", "message.txt", "message.txt"],
    ["alias.go", "!sh ./bin/go.sh", "bin/go.sh"],
    ["alias.top", '!"$(git rev-parse --show-toplevel)/bin/top"', "bin/top"],
    ["credential.helper", "!f() { ./cred/help; }; f", "cred/help"],
    ["credential.helper", "store --file=./cred/list", "cred/list"],
    ["gpg.program", "bin/gpg", "bin/gpg"],
    ["diff.x.textconv", "python3 conv/text.py", "conv/text.py"],
    ["merge.x.driver", "./merge/run %A %O", "merge/run"],
    ["filter.x.clean", "node filter/clean.js", "filter/clean.js"],
    ["core.sshCommand", "ssh -F keys/ssh.conf", "keys/ssh.conf"],
    ["init.templateDir", "templates", "templates/hooks/post-checkout"],
    ["some.newsetting", "./made/later", "made/later"],
  ])("%s = %s", (key, value, path) => {
    git("init", "-q");
    expect(guarded(path)).toBe(false);
    git("config", key, value);
    expect(guarded(path)).toBe(true);
    expect(guarded("src/index.ts")).toBe(false);
  });

  it("counts from every scope, also behind includes, and is read again when it changes", () => {
    git("init", "-q");
    const list = open();
    expect(guarded("own/hooks/pre-commit", list)).toBe(false);
    git("config", "--global", "core.hooksPath", "own/hooks");
    expect(guarded("own/hooks/pre-commit", list)).toBe(true);
    git("config", "extensions.worktreeConfig", "true");
    git("config", "--worktree", "core.fsmonitor", "./of/worktree");
    expect(guarded("of/worktree", list)).toBe(true);
    put("one.inc", "[include]\n\tpath = two.inc\n");
    put("two.inc", "[core]\n\tfsmonitor = ./far/monitor\n");
    git("config", "include.path", "../one.inc");
    for (const path of ["one.inc", "two.inc", "far/monitor"]) expect(guarded(path, list), path).toBe(true);
    put("two.inc", "[core]\n\tfsmonitor = ./near/monitor\n");
    expect([guarded("far/monitor", list), guarded("near/monitor", list)]).toEqual([false, true]);
  });

  it("counts for nested repositories, and for one around the workspace", () => {
    mkdirSync(join(root, "sub"));
    git("init", "-q", "sub");
    git("-C", "sub", "config", "core.hooksPath", "shared");
    expect(guarded("sub/shared/pre-commit")).toBe(true);
    git("init", "-q", base);
    git("-C", base, "config", "core.hooksPath", "project/outer");
    expect(guarded("outer/pre-commit")).toBe(true);
  });

  it("does not guard what settings only mention", () => {
    git("init", "-q");
    for (const name of ["lib", "main", "origin"]) put(`${name}/a`);
    git("config", "submodule.lib.url", "./lib");
    git("config", "remote.origin.url", "./origin");
    git("config", "branch.main.merge", "refs/heads/main");
    git("config", "safe.directory", root);
    git("config", "core.editor", "lib");
    git("config", "alias.st", "status --short");
    for (const path of ["lib/a", "main/a", "origin/a", "src/a"]) expect(guarded(path), path).toBe(false);
  });
});

describe("own files", () => {
  it("are recognised by their content, under any name", () => {
    const own = join(home, "config");
    mkdirSync(own);
    writeFileSync(join(own, "creds.key"), "k");
    chmodSync(join(own, "creds.key"), 0o600);
    writeFileSync(join(root, "plain"), "p");
    linkSync(join(root, "plain"), join(root, "twin"));
    linkSync(join(own, "creds.key"), join(root, "hard"));
    symlinkSync(own, join(root, "soft"));
    const files = new OwnFiles({ folders: [own], now: () => 0 });
    for (const path of [
      join(own, "creds.key"),
      join(own, "new"),
      join(own, "x/".repeat(5000)),
      `${root}/soft/${"x/".repeat(5000)}`,
      `${root}/${"x/".repeat(5000)}${"../".repeat(5000)}soft/creds.key`,
      own,
      join(root, "hard"),
      join(root, "soft/creds.key"),
    ]) {
      expect(files.has(path), path).toBe(true);
    }
    for (const path of [join(root, "plain"), join(root, "twin"), root, join(home, "other")]) {
      expect(files.has(path), path).toBe(false);
    }
  });
});
