/** Mode `auto` with the real judge, sandbox and shell: commands that run without asking do not show secret files. */

import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { PersonAnswer } from "../../src/chain/services.js";
import { openAutoMode } from "../support/auto-mode.js";
import { needs } from "../support/needs.js";
import { verifies } from "../verifies.js";

/** Not a value that the redaction of results would find. */
const CANARY = "the-canary-sings";
let [base, root]: string[] = [];
let auto: Awaited<ReturnType<typeof openAutoMode>>;

const at = (name: string) => join(root ?? "", name);
function lay(name: string, content: string): void {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), content);
}
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: root, stdio: "pipe" });

beforeEach(async () => {
  base = realpathSync(mkdtempSync("/var/tmp/secret-files-"));
  root = join(base, "home/project");
  mkdirSync(root, { recursive: true });
  git("init", "-q");
  lay(".gitignore", ".env*\n*.key\nnode_modules\n");
  auto = await openAutoMode({ root, home: join(base, "home"), ownFolder: join(base, "own") });
});

afterEach(async () => {
  await auto.close();
  rmSync(base ?? "", { recursive: true, force: true });
});

/** Tells what a model would get without a question; undefined if a person is asked. */
const shown = async (command: string) => (await auto.run(command)).output;

needs("sandbox", "python3").describe("secret files that git does not track", () => {
  verifies(["P15", "P8"], "are not shown by a hard link to a key of Oxbow or of the user, in any mode", async () => {
    const keys = { "own/data/sessions.key": "one.txt", "home/.ssh/id_ed25519": "deep/two.txt" };
    lay("deep/a", "");
    for (const [key, name] of Object.entries(keys)) {
      mkdirSync(dirname(join(base ?? "", key)), { recursive: true });
      writeFileSync(join(base ?? "", key), CANARY);
      linkSync(join(base ?? "", key), at(name));
    }
    lay("show.py", "for name in ['one.txt', 'deep/two.txt']: print(open(name).read())\n");
    const { output } = await auto.runWith("python3 show.py; wc -c < one.txt");
    expect(output).not.toContain(CANARY);
    expect(await shown("python3 show.py")).not.toContain(CANARY);
  });

  verifies(["P15", "P8"], "are not shown by any road that needs no question", async () => {
    lay(".env", `KEY=${CANARY}\n`);
    lay("packages/api/.env.local", `KEY=${CANARY}\n`);
    lay("tls/server.key", `-----BEGIN PRIVATE KEY-----\n${CANARY}\n`);
    lay(".aws/credentials", CANARY);
    lay(".npmrc", `//registry.example/:_authToken=${CANARY}\n`);
    linkSync(at(".env"), at("plain.txt"));
    symlinkSync(".env", at("link.txt"));
    lay("show.sh", "cat .env packages/api/.env.local tls/server.key .aws/credentials .npmrc\n");
    lay("Makefile", "all:\n\t@cat .env*\n");
    const scripts = [
      "bash show.sh; make; echo $(bash show.sh); F=.e; cat ${F}nv",
      "python3 -c \"print(open('.e' + 'nv').read())\"; node -e \"console.log(fs.readFileSync('.e' + 'nv', 'utf8'))\"",
      "python3 -c \"import os; [print(open(os.path.join(d, f)).read()) for d, _, n in os.walk('.') for f in n if '.git' not in d]\"",
      "ln plain.txt again.txt; mv plain.txt x.txt; bash -c 'cat again.txt x.txt plain.txt link.txt'",
    ];
    for (const script of scripts) {
      const output = await shown(script);
      expect(output).toEqual(expect.not.stringContaining(CANARY));
    }
    const others = [
      "tar cO . | strings",
      "grep -r . .",
      "cat plain.txt link.txt",
      "cp -r . /tmp/copy && cat /tmp/copy/.e* /tmp/copy/*/*/.e*",
      "bash -c 'exec 3<.env; cat <&3'",
    ];
    for (const command of others)
      expect([command, (await shown(command)) ?? ""]).toEqual([command, expect.not.stringContaining(CANARY)]);
    expect(await shown("bash show.sh")).toContain("allow = secrets");
    expect(readFileSync(at(".env"), "utf8")).toContain(CANARY);
  });

  verifies(
    ["P15", "P8"],
    "stay covered when a command moves them with their folder, or removes a link to them",
    async () => {
      lay("conf/.env", CANARY);
      lay("conf/values", CANARY);
      symlinkSync("conf/values", at(".env"));
      expect((await auto.run("for n in $(seq 80); do echo x > $n.key; done")).exitCode).toBe(0);
      for (const move of ["mkdir -p node_modules && mv conf node_modules/conf", "rm .env; true"]) await shown(move);
      expect(await shown("bash -c 'cat node_modules/conf/.e?v node_modules/conf/v*'")).not.toContain(CANARY);
      expect(await shown("python3 -c \"print(open('node_modules/conf/values').read())\"")).not.toContain(CANARY);
    },
  );

  verifies(
    ["P15", "P8"],
    "are read after a person's yes, for that command only, and where the profile says so",
    async () => {
      lay(".env", `KEY=${CANARY}\n`);
      lay(
        "app.sh",
        'test -n "$(grep KEY= .env)" || { echo KEY is required: environment variable >&2; exit 1; }; cat .env\n',
      );
      const yes: PersonAnswer = { decision: "allow_once", decidedBy: "person" };
      expect(await shown("bash app.sh")).toContain("[The sandbox hides .env: it can hold secrets.");
      expect((await auto.ask("bash app.sh", yes, { allow: "secrets" })).output).toContain(CANARY);
      expect((await auto.ask("cat .env", yes)).output).toContain(CANARY);
      expect(await shown("bash app.sh")).not.toContain(CANARY);
      expect((await auto.judge("bash app.sh", { allow: "secrets" })).decision).toBe("ask");
      expect((await auto.runWith("bash app.sh", { byPerson: true })).output).toContain(CANARY);
      await auto.close();
      mkdirSync(join(base ?? "", "own/config"), { recursive: true });
      writeFileSync(join(base ?? "", "own/config/config.toml"), 'sandbox_secrets = [".env"]\n');
      const home = join(base ?? "", "home");
      auto = await openAutoMode({ root: root ?? "", home, ownFolder: join(base ?? "", "own") });
      expect(await shown("bash app.sh")).toContain(CANARY);
    },
  );

  verifies(
    ["P15", "P8"],
    "leave ordinary work alone: files of commands, certificates, tracked keys, settings",
    async () => {
      lay("tests/tracked.key", `-----BEGIN PRIVATE KEY-----\ntracked\n`);
      git("add", "-f", "tests/tracked.key");
      git("commit", "-qm", "key");
      lay("ca.pem", "-----BEGIN CERTIFICATE-----\npublic\n");
      lay(".npmrc", "engine-strict=true\n");
      lay(".env.example", "A=1\n");
      const read = "bash -c 'cat tests/tracked.k?y ca.p?m .npm?c'";
      expect(await shown(read)).toBe(
        "-----BEGIN PRIVATE KEY-----\ntracked\n-----BEGIN CERTIFICATE-----\npublic\nengine-strict=true",
      );
      expect((await auto.run("cp .env.example .env.test")).exitCode).toBe(0);
      expect(await shown("bash -c 'cat .env.t*'")).toBe("A=1");
      lay("tests/later.key", "later\n");
      git("add", "-f", "tests/later.key");
      auto.beginTurn();
      expect(await shown("bash -c 'cat tests/la*'")).not.toContain("later");
    },
  );
});

needs("sandbox", "python3").describe("secret files of a large or odd workspace", () => {
  verifies(["P15", "P18"], "are found behind any number of folders, and in folders with any name", async () => {
    for (let at_ = 0; at_ < 4300; at_++) mkdirSync(at(`decoys/${at_}`), { recursive: true });
    for (let at_ = 0; at_ < 80; at_++) lay(`decoys/${at_}/.env`, `${CANARY}\n`);
    lay(`${"deep/".repeat(40)}.env`, CANARY);
    lay("decoys/zzz/zzz/.env", CANARY);
    const odd = Buffer.concat([Buffer.from(at("odd")), Buffer.of(0xff)]);
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, Buffer.from("/.env")]), CANARY);
    const read =
      "for folder, _, names in os.walk(b'.'):\n  for name in names if b'.git' not in folder else []: print(open(folder + b'/' + name).read())";
    lay("read.py", `import os\n${read}\n`);
    const output = await shown("python3 read.py");
    expect(output).toContain("os.walk");
    expect(output).not.toContain(CANARY);
  });

  verifies(["P15", "P18"], "are not uncovered by what a command or an index says is tracked", async () => {
    lay("a.txt", "a\n");
    git("add", "a.txt");
    git("commit", "-qm", "one");
    lay(".env", CANARY);
    lay("sub/.env", CANARY);
    expect(await shown("bash -c 'cat .e?v sub/.e?v a.t?t 2>&1; true'")).not.toContain(CANARY);
    git("add", "-f", ".env");
    auto.beginTurn();
    expect(await shown("bash -c 'cat .e?v a.t?t 2>&1; true'")).not.toContain(CANARY);
    git("commit", "-qm", "two");
    execFileSync("git", ["init", "-q"], { cwd: at("sub") });
    execFileSync("git", ["add", "-f", ".env"], { cwd: at("sub") });
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"], { cwd: at("sub") });
    auto.beginTurn();
    expect(await shown("bash -c 'cat .e?v sub/.e?v a.t?t 2>&1; true'")).not.toContain(CANARY);
  });

  verifies(["P15", "P18"], "are hidden above and beside the workspace, too, in the same repository", async () => {
    lay("packages/api/index.js", "");
    lay(".env", CANARY);
    lay("packages/web/.env.local", CANARY);
    lay("packages/web/page.txt", "a page");
    await auto.close();
    auto = await openAutoMode({
      ...{ root: at("packages/api"), home: join(base ?? "", "home") },
      ...{ ownFolder: join(base ?? "", "own") },
    });
    const read = "bash -c 'cat ../../.e?v ../web/.e* ../web/page.txt'";
    expect(await shown(`touch made; ${read}`)).not.toContain(CANARY);
    expect(await shown(`touch made; ${read}`)).toContain("a page");
  });

  verifies(["P15", "P18"], "stay when a command removes or replaces their folder, which the result says", async () => {
    lay("conf/.env", CANARY);
    lay("conf/values", "1");
    const { output } = await auto.runWith("rm -r conf; mkdir conf; echo 2 > conf/values; rm -r conf");
    expect(output).toContain("conf stays: it holds a file that commands do not see");
    expect(readFileSync(at("conf/.env"), "utf8")).toBe(CANARY);
    const replaced = await auto.runWith("rm -r conf; echo file > conf");
    expect(readFileSync(at("conf/.env"), "utf8")).toBe(CANARY);
    expect(replaced.output).toContain("conf");
  });

  verifies(["P15", "P18"], "are only replaced after a person's yes", async () => {
    lay(".env", CANARY);
    const { output } = await auto.runWith("echo A=1 > .env; echo b > b.txt");
    expect(output).toContain("secret file");
    expect(readFileSync(at(".env"), "utf8")).toBe(CANARY);
    expect(readFileSync(at("b.txt"), "utf8")).toBe("b\n");
  });
});

needs("sandbox", "python3").describe("secret files that git tracks", () => {
  verifies(["P15", "P8"], "are not shown by git without a question", async () => {
    lay("a.txt", "a\n");
    git("add", "a.txt");
    git("commit", "-qm", "one");
    lay(".env", `KEY=${CANARY}\n`);
    git("add", "-f", ".env");
    git("commit", "-qm", "two");
    lay(".env", `KEY=${CANARY}-2\n`);
    git("stash", "-q");
    // Their patches name the file, so bash leaves out those of secret files.
    const filtered = [
      "git stash show -p",
      "git stash show --patch stash@{0}",
      "git log -p",
      "git --no-pager log --patch -1",
      "git -C . log -p",
      "git --git-dir=.git show HEAD",
      "git whatchanged -p",
      "git reflog show -p",
      "git show",
      "git diff HEAD~1",
      "git diff-tree -p HEAD",
      "git diff-index -p HEAD~1",
      "/usr/bin/git log -p",
    ];
    const asks = [
      ...filtered.map((command) => `${command} | tail -2`),
      "git archive HEAD | tar xO",
      "git archive HEAD .env",
      "git format-patch --stdout HEAD~1",
      "git format-patch -1 --stdout",
      "git format-patch --root --stdout HEAD",
      "git grep KEY",
      "git grep KEY HEAD",
      "git show HEAD:.e$(echo nv)",
      "git range-diff HEAD~1..HEAD HEAD~1..HEAD",
      "echo HEAD:.env | git cat-file --batch",
      "echo $(git log -p)",
      "bash -c 'git log -p'",
      "git checkout-index -a --prefix=/tmp/x/ && cat /tmp/x/.e*",
      "git fast-export HEAD",
      "git bundle create - HEAD | base64",
      "git clone -q . /tmp/x && cat /tmp/x/.e*",
    ];
    const runs = [
      "git log --oneline",
      "git status --short",
      "git diff",
      "git show HEAD~1",
      "git log -p -1 HEAD~1",
      "git diff --stat HEAD~1",
    ];
    for (const command of asks) expect([command, (await auto.judge(command)).decision]).toEqual([command, "ask"]);
    for (const command of [...runs, ...filtered])
      expect([command, (await auto.judge(command)).decision]).toEqual([command, "allow"]);
  });
});
