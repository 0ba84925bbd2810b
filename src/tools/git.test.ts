import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { sample } from "../../test/support/thorough.js";
import { schemaProblems } from "../base/json-schema.js";
import type { ToolOutcome } from "../engine/ports.js";
import { plainText } from "../protocol/content.js";
import { createGitTool } from "./git.js";

let base: string;
let root: string;
let home: string;
let marker: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "git-tool-")));
  root = join(base, "workspace");
  home = join(base, "home");
  marker = join(base, "MARKER");
  mkdirSync(root);
  mkdirSync(home);
});
afterEach(() => {
  const ran = existsSync(marker);
  rmSync(base, { recursive: true });
  expect(ran).toBe(false);
});

const environment = () => ({ PATH: process.env.PATH, HOME: home });

function sh(cwd: string, ...args: string[]): string {
  return execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...environment(),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
      GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
    },
  });
}

function write(path: string, content: string, folder = root): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

let template: string | undefined;
afterAll(() => {
  if (template !== undefined) rmSync(template, { recursive: true });
});

/** A repository with two commits, one changed file and one unknown one. It is made once and copied: git is slow to start. */
function makeRepository(folder = root): void {
  if (template === undefined) {
    template = mkdtempSync(join(tmpdir(), "git-template-"));
    commitTwice(template);
  }
  cpSync(template, folder, { recursive: true, preserveTimestamps: true });
}

function commitTwice(folder: string): void {
  sh(folder, "init", "-q", "-b", "main");
  write("a.txt", "one\ntwo\n", folder);
  write("src/b.ts", "export const b = 1;\n", folder);
  sh(folder, "add", ".");
  sh(folder, "commit", "-qm", "first commit");
  write("a.txt", "one\nTWO\n", folder);
  sh(folder, "commit", "-qam", "second commit");
  write("a.txt", "one\nTWO\nthree\n", folder);
  write("new.txt", "new\n", folder);
}

async function git(
  action: string,
  args?: readonly string[],
  workspaceRoot = root,
): Promise<ToolOutcome & { output: string }> {
  const tool = createGitTool({ workspaceRoot, environment: environment() });
  const call = args === undefined ? { action } : { action, args };
  expect(schemaProblems(tool.inputSchema, call)).toEqual([]);
  const outcome = await tool.run(call, { signal: new AbortController().signal, progress() {} });
  return { ...outcome, output: plainText(outcome.content) };
}

const EVERYTHING: readonly (readonly [string, readonly string[]])[] = [
  ["status", []],
  ["status", ["--porcelain=v2", "--ignored"]],
  ["diff", []],
  ["diff", ["--stat"]],
  ["diff", ["HEAD~1"]],
  ["diff", ["--cached"]],
  ["diff", ["--word-diff", "HEAD~1", "HEAD"]],
  ["log", []],
  ["log", ["-p", "--stat"]],
  ["log", ["--oneline", "--graph", "--all"]],
  ["log", ["-L1,2:a.txt"]],
  ["log", ["-S", "TWO", "-p"]],
  ["show", []],
  ["show", ["HEAD:a.txt"]],
  ["show", ["--stat", "HEAD~1"]],
  ["blame", ["a.txt"]],
  ["blame", ["HEAD~1", "--", "a.txt"]],
];

describe("[T1] looking", () => {
  beforeEach(() => makeRepository());

  it("succeeds when git only warns", async () => {
    sh(root, "config", "core.autocrlf", "input");
    write("a.txt", "one\r\nTWO\r\n");
    const { status, output } = await git("diff", ["--stat"]);
    expect([status, output.includes("warning")]).toEqual(["ok", false]);
  });

  it("shows status, diff, log, show and blame", async () => {
    expect((await git("status")).output).toBe("## main\n M a.txt\n?? new.txt");
    expect((await git("diff")).output).toContain("+three");
    expect((await git("diff", ["HEAD~1", "HEAD", "--", "a.txt"])).output).toContain("-two\n+TWO");
    expect((await git("log", ["--format=%s"])).output).toBe("second commit\nfirst commit");
    expect((await git("show", ["HEAD~1:src/b.ts"])).output).toBe("export const b = 1;");
    expect((await git("blame", ["-s", "a.txt"])).output).toMatch(/1\) one\n.*2\) TWO\n0{8} 3\) three/);
  });

  it("takes paths with and without --, patterns and exclusions", async () => {
    expect((await git("log", ["--format=%s", "src"])).output).toBe("first commit");
    expect((await git("log", ["--format=%s", "--", "src/b.ts"])).output).toBe("first commit");
    expect((await git("diff", ["HEAD~1", "*.ts"])).output).toBe("No differences.");
    expect((await git("diff", ["--name-only", "HEAD~1", "--", ".", ":!a.txt"])).output).toBe("No differences.");
    expect((await git("log", ["-n", "1", "--format=%s"])).output).toBe("second commit");
    expect((await git("log", ["-1", "--format=%s"])).output).toBe("second commit");
    expect((await git("log", ["--since", "2020-01-01", "--author=Ann", "--format=%s", "main"])).output).toContain(
      "first",
    );
  });

  it("passes git's own errors on", async () => {
    expect(await git("show", ["no-such-revision"])).toMatchObject({
      status: "error",
      output: expect.stringContaining("no-such-revision"),
    });
    expect(await git("blame", [])).toMatchObject({ status: "error", output: expect.stringContaining("one file") });
    rmSync(join(root, ".git"), { recursive: true });
    expect(await git("status")).toMatchObject({
      status: "error",
      output: expect.stringContaining("not a git repository"),
    });
  });

  it("changes nothing, not even the index", async () => {
    const later = new Date(Date.now() + 5000);
    utimesSync(join(root, "src/b.ts"), later, later);
    const before = fingerprint(join(root, ".git"));
    for (const [action, args] of sample(EVERYTHING)) {
      const outcome = await git(action, args);
      expect([action, args, outcome.status]).toEqual([action, args, "ok"]);
    }
    expect(fingerprint(join(root, ".git"))).toEqual(before);
    expect((await git("diff", ["--name-only"])).output).toBe("a.txt");
  });

  it("notices a change that left size and time as they were", async () => {
    const { atime, mtime } = statSync(join(root, "src/b.ts"));
    write("src/b.ts", "export const b = 2;\n");
    utimesSync(join(root, "src/b.ts"), atime, mtime);
    expect((await git("diff", ["--name-only"])).output).toContain("src/b.ts");
  });

  it("cuts a long output between lines and says how to continue", async () => {
    write("long.txt", Array.from({ length: 20_000 }, (_, i) => `line ${i} é\n`).join(""));
    sh(root, "add", "long.txt");
    const { output, details, status } = await git("diff", ["--cached"]);
    expect(status).toBe("ok");
    expect(output.length).toBeLessThan(31_000);
    expect(output).toMatch(
      /\n\+line \d+ é\n\[… cut after [\d,]+ characters; name files after --, or ask for --stat first …\]$/,
    );
    expect(details).toMatchObject({ truncated: true });
  });

  it("is cancelled", async () => {
    const tool = createGitTool({ workspaceRoot: root, environment: environment() });
    const outcome = await tool.run({ action: "log" }, { signal: AbortSignal.abort(), progress() {} });
    expect(outcome.status).toBe("cancelled");
  });
});

function fingerprint(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    found[path] = `${createHash("sha256").update(readFileSync(path)).digest("hex")} ${statSync(path).mtimeMs}`;
  }
  return found;
}

describe("options", () => {
  beforeEach(() => makeRepository());

  it.each([
    ["diff", ["--output=x"]],
    ["diff", ["--output", "x"]],
    ["diff", ["--no-index", "a.txt", "new.txt"]],
    ["diff", ["--ext-diff"]],
    ["diff", ["--textconv"]],
    ["diff", ["-Oorder"]],
    ["diff", ["-c", "core.pager=x"]],
    ["log", ["--show-signature"]],
    ["log", ["--format=%G?"]],
    ["log", ["--pretty", "%h %+GS"]],
    ["log", ["--remerge-diff"]],
    ["log", ["--textconv", "-p"]],
    ["show", ["--ext-diff"]],
    ["blame", ["--contents", "/etc/passwd", "a.txt"]],
    ["blame", ["--ignore-revs-file=/etc/passwd", "a.txt"]],
    ["status", ["-v"]],
    ["status", ["--exec-path=x"]],
  ])("git %s %j is refused", async (action, args) => {
    const outcome = await git(action, args);
    expect(outcome.status).toBe("error");
    expect(outcome.output).toMatch(/not allowed|not checked/);
    expect(existsSync(join(root, "x"))).toBe(false);
  });

  it.each([
    ["diff", ["--", "/etc/hostname", "/etc/passwd"]],
    ["diff", ["/etc/hostname", "/etc/passwd"]],
    ["diff", ["../outside", "a.txt"]],
    ["log", ["--", "../outside"]],
    ["log", ["-L1,2:../outside"]],
    ["log", ["-L", ":name:/etc/passwd"]],
    ["show", ["HEAD:../outside"]],
    ["blame", ["../outside"]],
    ["status", ["src/../../outside"]],
    ["diff", ["--", ":!../outside"]],
  ])("git %s %j stays inside", async (action, args) => {
    write("../outside", "secret content\n");
    const outcome = await git(action, args);
    expect(outcome).toMatchObject({ status: "error", output: expect.stringContaining("outside the workspace") });
  });

  it.each([
    ["log", ["--", ":(top)x"]],
    ["log", [":/first"]],
    ["diff", [":(exclude)a.txt"]],
    ["diff", ["--", ":/"]],
  ])("git %s %j is refused as magic", async (action, args) => {
    expect((await git(action, args)).status).toBe("error");
  });

  it("rejects arguments that are not a list of words", async () => {
    const tool = createGitTool({ workspaceRoot: root, environment: environment() });
    const context = { signal: new AbortController().signal, progress() {} };
    expect(await tool.run({ action: "push" }, context)).toMatchObject({ status: "error" });
    expect(await tool.run({ action: "log", args: "-n 1" }, context)).toMatchObject({ status: "error" });
    expect(await tool.run({ action: "log", args: ["a\0b"] }, context)).toMatchObject({ status: "error" });
  });

  it("does not follow a link out of the work tree", async () => {
    write("../outside/file", "secret content\n");
    symlinkSync(join(base, "outside"), join(root, "link"));
    for (const [action, args] of [
      ["diff", ["--", "link/file", "a.txt"]],
      ["diff", ["link/file", "link/file"]],
      ["blame", ["link/file"]],
      ["status", ["link/file"]],
    ] as const) {
      expect((await git(action, args)).output).not.toContain("secret");
    }
  });
});

describe("[T1] hostile repositories", () => {
  /** A program that leaves the marker and then does what it was called for. */
  function trap(name: string, rest = "cat"): string {
    const file = join(base, name);
    writeFileSync(file, `#!/bin/sh\necho ${name} >> ${marker}\n${rest}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** Every setting that is known to name a program, each with a trap. */
  function setTraps(folder = root): void {
    const program = trap("trap");
    const set = (name: string, value = program) => sh(folder, "config", name, value);
    for (const name of [
      ..."core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy".split(" "),
      ..."diff.external diff.evil.command diff.evil.textconv core.alternateRefsCommand sequence.editor".split(" "),
      ..."filter.evil.clean filter.evil.smudge filter.proc.process filter.lfs.clean filter.lfs.process".split(" "),
      ..."gpg.program gpg.openpgp.program gpg.ssh.program gpg.x509.program credential.helper".split(" "),
      ..."pager.diff pager.log pager.status pager.show pager.blame merge.evil.driver interactive.diffFilter".split(" "),
    ]) {
      set(name);
    }
    for (const name of ["status", "diff", "log", "show", "blame", "rev-parse", "config"])
      set(`alias.${name}`, `!${program}`);
    set("filter.evil.required", "true");
    set('filter.odd name "quoted".clean', program);
    set("log.showSignature", "true");
    set("log.diffMerges", "remerge");
    set("status.submoduleSummary", "true");
    set("diff.submodule", "diff");
    set("diff.ignoreSubmodules", "none");
    set("protocol.ext.allow", "always");
    const hooks = join(folder, ".git/hooks");
    mkdirSync(hooks, { recursive: true });
    for (const name of [
      "post-index-change",
      "pre-commit",
      "fsmonitor-watchman",
      "post-checkout",
      "reference-transaction",
    ]) {
      writeFileSync(join(hooks, name), `#!/bin/sh\necho hook >> ${marker}\n`);
      chmodSync(join(hooks, name), 0o755);
    }
    set("core.hooksPath", hooks);
    writeFileSync(
      join(folder, ".git/info/attributes"),
      '*.txt diff=evil filter=evil merge=evil\n*.ts filter=proc diff=evil\n*.bin filter=lfs\n*.odd filter="odd name"\n',
    );
  }

  it("the traps do catch an unguarded git", () => {
    makeRepository();
    setTraps();
    sh(root, "--no-pager", "diff");
    expect(readFileSync(marker, "utf8")).toContain("trap");
    rmSync(marker);
  });

  it("run none of their programs", async () => {
    makeRepository();
    write(".gitattributes", "*.txt diff=evil filter=evil\n*.ts filter=proc\n*.bin filter=lfs\n");
    setTraps();
    const later = new Date(Date.now() + 5000);
    utimesSync(join(root, "src/b.ts"), later, later);
    for (const [action, args] of sample(EVERYTHING)) {
      const outcome = await git(action, args);
      expect([action, args, outcome.status, existsSync(marker)]).toEqual([action, args, "error", false]);
      expect(outcome.output).toMatch(/refused: its configuration sets \S+ in \.git\/config.*bash/);
    }
  });

  it("start no hook, whatever named their folder", async () => {
    makeRepository();
    const hook = join(root, "hooks/post-index-change");
    mkdirSync(dirname(hook));
    renameSync(trap("hook"), hook);
    sh(root, "config", "core.hooksPath", "hooks");
    writeFileSync(join(home, ".gitconfig"), "[core]\n\thooksPath = hooks\n");
    utimesSync(join(root, "src/b.ts"), 1, 1);
    for (const [action, args] of sample(EVERYTHING)) {
      expect([action, args, (await git(action, args)).status]).toEqual([action, args, "ok"]);
      expect([action, args, existsSync(marker)]).toEqual([action, args, false]);
    }
  });

  it("show no line of a file that their configuration names", async () => {
    const secret = join(base, "secret-file");
    writeFileSync(secret, "do-not-show-this\nmailto <do@not.show>\n");
    const settings = [
      ..."blame.ignoreRevsFile core.excludesFile core.attributesFile mailmap.file diff.orderFile commit.template".split(
        " ",
      ),
      ..."include.path includeIf.gitdir:/.path fsck.skipList gpg.ssh.allowedSignersFile core.hooksPath".split(" "),
      ..."core.worktree init.templateDir http.cookieFile sendemail.aliasesFile some.key.of.the.future".split(" "),
    ];
    makeRepository();
    const config = readFileSync(join(root, ".git/config"));
    for (const name of settings) {
      writeFileSync(join(root, ".git/config"), config);
      sh(root, "config", name, secret);
      for (const [action, args] of [
        ["blame", ["a.txt"]],
        ["status", ["--ignored"]],
        ["log", []],
      ] as const) {
        const outcome = await git(action, args);
        expect([name, action, outcome.status]).toEqual([name, action, "error"]);
        expect(outcome.output).not.toMatch(/do-not-show-this|not\.show/);
      }
    }
  });

  it("are refused also for what they include from inside, and for what is in a second configuration", async () => {
    makeRepository();
    write("more.config", "[blame]\n\tignoreRevsFile = /etc/passwd\n");
    sh(root, "config", "extensions.worktreeConfig", "true");
    expect((await git("status")).status).toBe("ok");
    sh(root, "config", "--worktree", "blame.ignoreRevsFile", "/etc/passwd");
    expect(await git("blame", ["a.txt"])).toMatchObject({
      status: "error",
      output: expect.stringContaining("blame.ignorerevsfile in .git/config.worktree"),
    });
    rmSync(join(root, ".git/config.worktree"));
    sh(root, "config", "include.path", "../more.config");
    expect(await git("blame", ["a.txt"])).toMatchObject({
      status: "error",
      output: expect.stringContaining("refused"),
    });
  });

  it("show no line through links in the git folder", async () => {
    const secret = join(base, "secret-file");
    writeFileSync(secret, "do-not-show-this\n");
    for (const name of [".git/rebase-merge/done", ".git/info/exclude", ".git/info/grafts", ".git/FETCH_HEAD"]) {
      rmSync(join(root, ".git"), { recursive: true, force: true });
      makeRepository();
      mkdirSync(dirname(join(root, name)), { recursive: true });
      rmSync(join(root, name), { force: true });
      symlinkSync(secret, join(root, name));
      const outcome = await git("status", ["--long"]);
      expect([name, outcome.status]).toEqual([name, "error"]);
      expect(outcome.output).not.toContain("do-not-show-this");
    }
  });

  it("may have the settings that ordinary work leaves behind", async () => {
    makeRepository();
    for (const [name, value] of [
      ["remote.origin.url", "git@localhost:me/x.git"],
      ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
      ["branch.main.remote", "origin"],
      ["branch.main.vscode-merge-base", "origin/main"],
      ["user.name", "Ann"],
      ["core.hooksPath", ".husky/_"],
      ["core.autocrlf", "input"],
      ["core.fsmonitor", "true"],
      ["pull.rebase", "true"],
      ["submodule.lib.url", "https://localhost/lib.git"],
      ["submodule.lib.active", "true"],
      ["http.https://localhost/.extraheader", "x: y"],
      ["lfs.https://localhost/x.git/info/lfs.access", "basic"],
      ["gitflow.prefix.feature", "feature/"],
      ["advice.detachedHead", "false"],
      ["color.diff.meta", "yellow"],
      ["gc.auto", "0"],
    ] as const)
      sh(root, "config", name, value);
    for (const [action, args] of sample(EVERYTHING))
      expect([action, args, (await git(action, args)).status]).toEqual([action, args, "ok"]);
  });

  it("run none of the programs of a submodule", async () => {
    const other = join(base, "other");
    mkdirSync(other);
    makeRepository(other);
    makeRepository();
    sh(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub");
    sh(root, "commit", "-qm", "with submodule");
    const subConfig = join(root, ".git/modules/sub/config");
    appendFileSync(
      subConfig,
      `[core]\n\tfsmonitor = ${trap("sub-trap")}\n[filter "evil"]\n\tclean = ${trap("sub-filter")}\n`,
    );
    writeFileSync(join(root, ".git/modules/sub/info/attributes"), "* filter=evil\n");
    write("sub/a.txt", "changed in the submodule\n");
    for (const [action, args] of sample(EVERYTHING)) {
      await git(action, args);
      expect([action, args, existsSync(marker)]).toEqual([action, args, false]);
    }
  });

  it("fetch nothing, whatever the address says", async () => {
    makeRepository();
    const blob = sh(root, "rev-parse", "HEAD~1:a.txt").trim();
    rmSync(join(root, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    const program = trap("remote-trap");
    sh(root, "config", "core.repositoryFormatVersion", "1");
    sh(root, "config", "extensions.partialClone", "origin");
    sh(root, "config", "remote.origin.promisor", "true");
    for (const [url, uploadpack] of [
      [`ext::${program} %S`, "git-upload-pack"],
      [base, program],
      ["ssh://localhost/x", program],
    ] as const) {
      sh(root, "config", "remote.origin.url", url);
      sh(root, "config", "remote.origin.uploadpack", uploadpack);
      expect((await git("show", ["HEAD~1:a.txt"])).status).toBe("error");
      sh(root, "config", "--unset", "remote.origin.uploadpack");
      expect((await git("show", ["HEAD~1:a.txt"])).status).toBe("error");
      expect((await git("log", ["-p"])).status).toBe("error");
      expect(existsSync(marker)).toBe(false);
    }
  });

  it("are refused however a program is named", async () => {
    makeRepository();
    sh(root, "config", "filter.a=b.clean", trap("odd-trap"));
    writeFileSync(join(root, ".git/info/attributes"), "*.txt filter=a=b\n");
    expect(await git("status")).toMatchObject({ status: "error", output: expect.stringContaining("filter.a=b.clean") });
  });

  it("are read as the person's own settings say", async () => {
    makeRepository();
    writeFileSync(join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/ignored\n[diff]\n\tnoprefix = true\n");
    writeFileSync(join(home, "ignored"), "new.txt\n");
    expect((await git("status")).output).toBe("## main\n M a.txt");
    expect((await git("diff")).output).toContain("--- a.txt");
    rmSync(join(home, ".gitconfig"));
    mkdirSync(join(home, ".config/git"), { recursive: true });
    renameSync(join(home, "ignored"), join(home, ".config/git/ignore"));
    expect((await git("status")).output).toBe("## main\n M a.txt");
  });

  it("cannot supply their own git", async () => {
    makeRepository();
    const tools = join(root, "node_modules/.bin");
    mkdirSync(tools, { recursive: true });
    renameSync(trap("git", "exit 1"), join(tools, "git"));
    const tool = createGitTool({
      workspaceRoot: root,
      environment: { ...environment(), PATH: `.:node_modules/.bin:${tools}:${process.env.PATH}` },
    });
    const outcome = await tool.run({ action: "status" }, { signal: new AbortController().signal, progress() {} });
    expect(outcome.status).toBe("ok");
  });

  it("are not obeyed from the user's own folder either", async () => {
    makeRepository();
    writeFileSync(
      join(home, ".gitconfig"),
      `[core]\n\tfsmonitor = ${trap("home-trap")}\n[filter "evil"]\n\tclean = ${trap("home-filter")}\n[trace2]\n\teventTarget = ${marker}\n`,
    );
    write(".gitattributes", "* filter=evil\n");
    expect((await git("status")).status).toBe("ok");
    expect((await git("diff")).status).toBe("ok");
  });
});

describe("other people's repositories", () => {
  let secret: string;

  beforeEach(() => {
    secret = join(base, "secret");
    mkdirSync(secret);
    makeRepository(secret);
  });

  const refused = async () => {
    for (const [action, args] of sample(EVERYTHING)) {
      const outcome = await git(action, args);
      expect([action, outcome.status]).toEqual([action, "error"]);
      expect(outcome.output).not.toContain("TWO");
    }
    expect((await git("log")).output).toMatch(/refused|not a git repository|bare repository/);
  };

  it("a .git file pointing elsewhere is refused", async () => {
    write(".git", `gitdir: ${secret}/.git\n`);
    await refused();
  });

  it("a .git link pointing elsewhere is refused", async () => {
    symlinkSync(join(secret, ".git"), join(root, ".git"));
    await refused();
  });

  it("a work tree elsewhere is refused", async () => {
    sh(root, "init", "-q");
    sh(root, "config", "core.worktree", secret);
    await refused();
  });

  it("the whole disk as work tree is refused", async () => {
    sh(root, "init", "-q");
    sh(root, "config", "core.worktree", "/");
    await refused();
  });

  it("a common folder elsewhere is refused", async () => {
    sh(root, "init", "-q");
    writeFileSync(join(root, ".git/commondir"), `${secret}/.git\n`);
    await refused();
  });

  it("objects and branches linked from elsewhere are refused", async () => {
    sh(root, "init", "-q", "-b", "main");
    for (const name of ["objects", "refs"]) {
      rmSync(join(root, ".git", name), { recursive: true });
      symlinkSync(join(secret, ".git", name), join(root, ".git", name));
    }
    await refused();
  });

  it("borrowed objects are refused", async () => {
    sh(root, "init", "-q", "-b", "main");
    writeFileSync(join(root, ".git/objects/info/alternates"), `${secret}/.git/objects\n`);
    write(".git/refs/heads/main", sh(secret, "rev-parse", "HEAD"));
    await refused();
  });

  it("objects that are borrowed through a store inside are refused", async () => {
    sh(root, "init", "-q", "-b", "main");
    write("store/info/alternates", `${secret}/.git/objects\n`);
    writeFileSync(join(root, ".git/objects/info/alternates"), `${join(root, "store")}\n`);
    write(".git/refs/heads/main", sh(secret, "rev-parse", "HEAD"));
    await refused();
  });

  it("a workspace that looks like a bare repository is refused", async () => {
    for (const name of readdirSync(join(secret, ".git"))) renameSync(join(secret, ".git", name), join(root, name));
    await refused();
  });
});

describe("repositories that reach beyond the workspace", () => {
  it("shows only the workspace's part of a repository above", async () => {
    makeRepository(base);
    write("../a.txt", "CHANGED OUTSIDE\n");
    write("inside.txt", "inside\n");
    sh(base, "add", "workspace");
    sh(base, "commit", "-qm", "add the workspace", "--", "workspace");
    write("inside.txt", "inside and more\n");
    expect((await git("status")).output).toBe("## main\n M inside.txt");
    expect((await git("diff")).output).toContain("inside and more");
    expect((await git("diff")).output).not.toContain("CHANGED OUTSIDE");
    expect((await git("log", ["--format=%s"])).output).toBe("add the workspace");
    expect((await git("show", ["HEAD:workspace/inside.txt"])).output).toBe("inside");
    expect((await git("show", ["HEAD:./inside.txt"])).output).toBe("inside");
    expect((await git("show", ["HEAD:a.txt"])).output).toContain("outside the workspace");
    expect((await git("show", ["HEAD:../a.txt"])).output).toContain("outside the workspace");
    expect((await git("show", [":a.txt"])).output).toContain("outside the workspace");
    expect((await git("blame", ["inside.txt"])).status).toBe("ok");
  });

  it("works in a linked worktree", async () => {
    const main = join(base, "main");
    mkdirSync(main);
    makeRepository(main);
    rmSync(root, { recursive: true });
    sh(main, "worktree", "add", "-q", root, "-b", "topic");
    expect((await git("status")).output).toBe("## topic");
    expect((await git("log", ["--format=%s"])).output).toContain("second commit");
  });

  it("works in a submodule", async () => {
    const other = join(base, "other");
    const outer = join(base, "outer");
    for (const folder of [other, outer]) mkdirSync(folder);
    makeRepository(other);
    makeRepository(outer);
    sh(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub");
    expect((await git("log", ["--format=%s"], join(outer, "sub"))).output).toContain("second commit");
  });
});
