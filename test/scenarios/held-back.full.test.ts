/** Commands in mode `auto` that make files at guarded names: those are held back, the model and the user get a message, and a yes lets them pass. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createIdSource } from "../../src/base/ulid.js";
import type { PersonAnswer } from "../../src/chain/services.js";
import type { LateQuestion } from "../../src/engine/ports.js";
import { look } from "../../src/system/overlay/change-set.js";
import { openAutoMode } from "../support/auto-mode.js";
import { needs } from "../support/needs.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

const YES: PersonAnswer = { decision: "allow_once", decidedBy: "person" };

let base: string;
let root: string;
let auto: Awaited<ReturnType<typeof openAutoMode>>;

const at = (name: string) => join(root, name);
const lay = (name: string, content = "") => {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), content);
};
const git = (...args: string[]) => execFileSync("git", args, { cwd: root, stdio: "pipe" });
/** A program of the model, whose words say nothing about what it makes. */
const program = (code: string) => lay("make.py", `import os\n${code}\n`);
const run = async () => (await auto.run("python3 make.py")).output ?? "asked";
const isThere = (name: string) => look(at(name)) !== undefined;

beforeEach(async () => {
  base = realpathSync(mkdtempSync("/var/tmp/held-back-"));
  root = join(base, "home/project");
  mkdirSync(root, { recursive: true });
  git("init", "-q");
  auto = await openAutoMode({ root, home: join(base, "home"), ownFolder: join(base, "own") });
});
afterEach(async () => {
  await auto.close();
  rmSync(base, { recursive: true, force: true });
});

needs("sandbox", "python3").describe("what a command makes at a guarded name", () => {
  const NAMES = [
    ...[".vscode/tasks.json", ".envrc", ".husky/pre-commit", ".npmrc", ".cargo/config.toml", ".claude/settings.json"],
    ...[".mcp.json", ".hg/hgrc", ".jj/repo/config.toml", "lib/.hg/hgrc", "a/b/c/d/e/f/g/h/i/.envrc"],
    ...[".VSCODE/tasks.json", "sub/.Npmrc", "gradle/wrapper/gradle-wrapper.jar", "x.code-workspace"],
    ...[
      ".roo/mcp.json",
      "node/.aider.conf.yml",
      "sub/.git/config",
      "sub2/.GIT/hooks/post-checkout",
      "sub3/.git\u200c/x",
    ],
  ];
  const plant = (names: readonly string[]) =>
    program(
      `for name in ${JSON.stringify(names)}:\n  os.makedirs(os.path.dirname(name) or ".", exist_ok=True)\n  open(name, "w").write("planted")`,
    );

  verifies(["P8", "P15", "P16", "P18"], "is not applied, and the model and the person learn it", async () => {
    plant([...NAMES, "lib/ordinary.txt"]);
    const output = await run();
    expect(NAMES.filter(isThere)).toEqual([]);
    expect(readFileSync(at("lib/ordinary.txt"), "utf8")).toBe("planted");
    for (const told of [output, auto.told.join("\n")]) expect(told).toContain("+.vscode/");
    expect(output).toContain("[not applied: ");
  });

  verifies(["P8", "P15", "P16", "P18"], "is a question about the change, with what it would write", async () => {
    plant([".vscode/tasks.json", ".envrc", "other.txt"]);
    const asked: LateQuestion[] = [];
    const answer = (yes: boolean) => async (question: LateQuestion) => {
      asked.push(question);
      return yes;
    };
    await auto.runWith("python3 make.py", { ask: answer(false) });
    expect([isThere(".vscode"), isThere(".envrc"), isThere("other.txt")]).toEqual([false, false, true]);
    const { output } = await auto.runWith("python3 make.py", { ask: answer(true) });
    expect([isThere(".vscode/tasks.json"), isThere(".envrc")]).toEqual([true, true]);
    expect(output).toContain("[changed: ");
    expect(asked.map(({ summary }) => summary)).toEqual(
      Array(2).fill("The command wants to create .envrc and 1 more. Apply it?"),
    );
    expect(asked[0]?.preview).toContain("planted");
    // From now on it is guarded as what was there before.
    program('open(".vscode/tasks.json", "w")');
    expect(await run()).toContain("[not applied: ~.vscode/tasks.json: editors run or obey it]");
    expect(readFileSync(at(".vscode/tasks.json"), "utf8")).toBe("planted");
  });

  verifies(["P16", "P18"], "passes where a person said yes to that path, and nothing beside it", async () => {
    lay("make2.py", 'open(".envrc", "w"); open(".vscode/launch.json", "w")');
    const command = "mkdir .vscode && echo x > .vscode/tasks.json && python3 make2.py";
    expect((await auto.judge(command)).law).toBe("guarded");
    const no: PersonAnswer = { decision: "deny", decidedBy: "person" };
    await auto.ask(command, YES, {}, no);
    expect([isThere(".vscode/tasks.json"), isThere(".envrc")]).toEqual([true, false]);
  });

  const TRICKS: readonly (readonly [what: string, code: string, planted: string])[] = [
    ["renamed from an innocent name", 'os.mkdir("x"); open("x/tasks.json","w"); os.rename("x",".vscode")', ".vscode"],
    [
      "a folder that gives an old file a guarded path",
      'import shutil; shutil.move("cargo", ".cargo")',
      ".cargo/config.toml",
    ],
    ["a link", 'os.symlink("data", ".vscode")', ".vscode"],
    ["a link to a guarded file", 'os.symlink(".git/config", "plain.txt")', "plain.txt"],
    ["a link to a folder around one", 'os.symlink(".git", "folder")', "folder"],
    ["a link out of the workspace", 'os.symlink("../..", "out")', "out"],
    ["a link to a link out of it", 'os.symlink("/", "one"); os.symlink("one/etc", "two")', "two"],
    ["a hard link", 'os.link("data/a", ".envrc")', ".envrc"],
    [
      "made, removed and made again",
      '[(open(".envrc","w"), os.unlink(".envrc")) for _ in range(9)]; open(".envrc","w")',
      ".envrc",
    ],
    ["with a time in the past", 'open(".envrc","w"); os.utime(".envrc", (1, 1))', ".envrc"],
    ["in a folder that may not be changed", 'os.mkdir("d"); open("d/.envrc","w"); os.chmod("d", 0o555)', "d/.envrc"],
    ["in a folder that may not be listed", 'os.mkdir("d"); open("d/.envrc","w"); os.chmod("d", 0)', "d/.envrc"],
    [
      "in a folder with a strange name",
      'os.mkdir("-n \\n\\x1b[31m"); open("-n \\n\\x1b[31m/.envrc","w")',
      "-n \n\x1b[31m/.envrc",
    ],
    ["a socket or pipe", 'os.mkfifo(".npmrc")', ".npmrc"],
    ["a file that a git setting names", 'open("revs","w")', "revs"],
    ["a folder that a git setting names", 'os.makedirs("team/tool")', "team/tool"],
    [
      "where a file was",
      'os.unlink("data/a"); os.makedirs("data/a/.vscode"); open("data/a/.vscode/x","w")',
      "data/a/.vscode",
    ],
    [
      "in a folder that was removed and made again",
      'import shutil; shutil.rmtree("data"); os.makedirs("data/.vscode"); open("data/.vscode/x","w")',
      "data/.vscode",
    ],
  ];
  it.each(TRICKS)("[P18] is held back: %s", async (_what, code, planted) => {
    lay("cargo/config.toml");
    lay("data/a");
    git("config", "blame.ignoreRevsFile", "revs");
    git("config", "diff.x.textconv", "./team/tool");
    program(code);
    expect(await run()).toMatch(/not applied|left out/);
    expect(isThere(planted)).toBe(false);
    expect(auto.told.join("")).not.toContain("\x1b");
    expect([isThere("data/a"), isThere("cargo/config.toml")]).toEqual([true, true]);
  });
});

needs("sandbox", "python3").describe("a command whose words name a guarded path", () => {
  const COMMANDS = [
    ...[
      "echo x > $PWD/.envrc",
      'echo x > "$PWD"/.git/config',
      "echo x > .env{rc,}",
      "cp a .e[n]vrc",
      "dd if=a of=.envrc",
    ],
    ...["tar xf a.tar -C .vscode", "unzip -d .vscode a.zip", "git apply --directory=.vscode p", "cp -t .husky tool"],
    ...["cd .vscode && echo x > tasks.json", "env mv tool .envrc", "cp tool /proc/self/cwd/.envrc", "tee -a b .ENVRC"],
  ];
  it("asks about it, also after the tool was allowed for the session", async () => {
    await auto.ask("git commit --allow-empty -m x", { ...YES, decision: "allow_tool" });
    for (const command of COMMANDS) expect([command, (await auto.judge(command)).law]).toEqual([command, "guarded"]);
  });
});

needs("sandbox", "python3").describe("a command that a person typed for the model (/run)", () => {
  verifies(["P18"], "goes through the same view and gate, and may use git", async () => {
    const commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    const line = `${commit} && echo x > .envrc && echo y > plain && git config a.b c; true`;
    const { output } = await auto.runWith(line, { byPerson: true });
    expect([isThere("plain"), isThere(".envrc")]).toEqual([true, false]);
    expect(output).toMatch(/not applied: .*\.git\/config/);
    expect(git("config", "--list").toString()).not.toContain("a.b=c");
    await auto.runWith(commit, { byPerson: true });
    expect(git("log", "--format=%s").toString()).toBe("x\n");
  });
});

needs("sandbox").describe("a command that does not end by itself", () => {
  verifies(["P18", "S14"], "changes nothing, and /keep applies it later, with the same questions", async () => {
    lay("theirs", "1");
    const slow = "echo one > one; echo 2 > theirs; mkdir .husky; echo x > .husky/pre-commit; sleep 60";
    const { output } = await auto.runWith(slow, { timeout: 1 });
    expect(output).toContain("[the workspace is as it was: nothing of it was applied]");
    expect(auto.told.join()).toContain("/keep");
    await auto.runWith("echo two > two; sleep 60", { timeout: 1 });
    await auto.runWith("sleep 60", { timeout: 1 });
    expect([isThere("one"), isThere("two"), readFileSync(at("theirs"), "utf8")]).toEqual([false, false, "1"]);
    lay("theirs", "3");
    expect((await auto.keep())?.changed).toEqual(["+two"]);
    const kept = await auto.keep();
    expect(kept?.changed).toEqual(["+one"]);
    expect(kept?.notes.join("\n")).toMatch(/not applied: \+\.husky.*theirs was changed by another program/s);
    expect([isThere(".husky"), readFileSync(at("theirs"), "utf8")]).toEqual([false, "3"]);
    expect(await auto.keep()).toBeUndefined();
  });
});

needs("sandbox").describe("a command during which the person chose plan mode", () => {
  verifies(["P18"], "changes nothing, and /keep applies it", async () => {
    await auto.runWith("true > /tmp/first");
    const shared = (await auto.temporaryFolder()) ?? "";
    const running = auto.runWith("echo x > made; echo x > /tmp/begun; until [ -e /tmp/go ]; do sleep 0.05; done");
    await until(() => existsSync(join(shared, "begun")));
    auto.plan(true);
    writeFileSync(join(shared, "go"), "");
    const { output } = await running;
    expect(output).toContain("nothing of it was applied, because the mode is plan now");
    expect([isThere("made"), auto.told.join()]).toEqual([false, expect.stringContaining("/keep applies it")]);
    expect([(await auto.keep())?.changed, isThere("made")]).toEqual([["+made"], true]);
  });
});

needs("sandbox").describe("a command that no call of the model runs, as of a hook", () => {
  verifies(["P18"], "tells the person what could not be applied", async () => {
    await auto.runWith("mkfifo pipe; echo x > plain");
    expect(auto.told).toEqual([expect.stringContaining("[pipe was left out: it is a socket, pipe or device]")]);
    await auto.runWith("mkfifo pipe", {
      call: createIdSource({ wall: Date.now, random: (bytes) => bytes.fill(1) }).next("call"),
    });
    expect(auto.told).toHaveLength(1);
  });
});

needs("sandbox", "python3").describe("what a command did not make", () => {
  verifies(["P18"], "stays: what a person makes at guarded names while one runs", async () => {
    lay(".idea/workspace.xml", "1");
    program(
      'import time\nopen("out","w")\nopen("/tmp/begun","w")\nwhile not os.path.exists("/tmp/go"): time.sleep(0.01)',
    );
    const running = run();
    const shared = (await auto.temporaryFolder()) ?? "";
    await until(() => existsSync(join(shared, "begun")));
    lay(".idea/shelf/x", "2");
    lay(".envrc", "mine");
    writeFileSync(join(shared, "go"), "");
    await running;
    expect(readFileSync(at(".envrc"), "utf8")).toBe("mine");
    expect([isThere(".idea/shelf/x"), isThere("out")]).toEqual([true, true]);
    expect(auto.told).toEqual([]);
  });

  verifies(["P16", "P18"], "is neither changed nor moved away, however deep it lies", async () => {
    const deep = "a/b/c/d/e/f/g/h/i/j/k/l/m/n";
    lay(`${deep}/.husky/pre-commit`, "mine");
    program(`open("${deep}/.husky/pre-commit","w")`);
    expect(await run()).toContain("not applied");
    program(`import shutil; shutil.move("${deep}", "moved"); shutil.rmtree("a")`);
    expect(await run()).toContain("[so nothing that it deleted or moved is gone]");
    expect(readFileSync(at(`${deep}/.husky/pre-commit`), "utf8")).toBe("mine");
    expect(isThere("moved/.husky/pre-commit")).toBe(false);
  });

  it("passes: a link at a guarded name that leads elsewhere needs a yes as well", async () => {
    lay("config/settings.json");
    symlinkSync("config", at(".vscode"));
    program('os.unlink(".vscode"); os.symlink("data", ".vscode")');
    expect(await run()).toContain("not applied: ~.vscode");
    expect(readlinkSync(at(".vscode"))).toBe("config");
  });
});

needs("sandbox").describe("a file that another program changes while a command does", () => {
  const clash = async (yes: boolean) => {
    const asked: LateQuestion[] = [];
    for (const name of ["both", "gone"]) lay(name, "old\n");
    await auto.runWith("rm -f /tmp/*");
    const running = auto.runWith(
      "echo ours > both; rm gone; echo x > mine; echo x > /tmp/begun; until [ -e /tmp/go ]; do sleep 0.05; done",
      {
        ask: async (question) => {
          asked.push(question);
          return yes;
        },
      },
    );
    const shared = (await auto.temporaryFolder()) ?? "";
    await until(() => existsSync(join(shared, "begun")));
    for (const name of ["both", "gone"]) lay(name, "theirs\n");
    writeFileSync(join(shared, "go"), "");
    const { output } = await running;
    const found = ["both", "both.oxbow", "gone", "mine"].map((name) =>
      isThere(name) ? readFileSync(at(name), "utf8") : "",
    );
    return { asked, output, found };
  };

  verifies(["P18"], "is a question with the difference, and stays without a yes", async () => {
    const { asked, output, found } = await clash(false);
    expect(asked.map(({ summary }) => summary)).toEqual([
      "Another program changed both and 1 more while the command ran. Take the command's version?",
    ]);
    expect(asked[0]?.preview).toMatch(/~both\n.*theirs.*\n.*ours.*\n-gone/s);
    expect(found).toEqual(["theirs\n", "ours\n", "theirs\n", "x\n"]);
    expect(output).toContain("both was changed by another program meanwhile and is kept");
  });

  verifies(["P18"], "is replaced after a yes", async () => {
    const { output, found } = await clash(true);
    expect(found).toEqual(["ours\n", "", "", "x\n"]);
    expect(output).not.toContain("kept");
  });
});

needs("sandbox", "python3").describe("what a command does to the layers themselves", () => {
  verifies(["P18"], "mixes no old packages with new ones where a part is held back", async () => {
    for (const name of ["node_modules/old/a", "node_modules/both/a", "src/a"]) lay(name, "old");
    const install = `import shutil\nshutil.rmtree("node_modules"); os.makedirs("node_modules/both"); open("node_modules/both/a", "w").write("new")
os.unlink("src/a")`;
    program(`${install}; os.mkdir(".husky"); open(".husky/pre-commit", "w")`);
    const found = () => ["node_modules/old/a", ".husky", "src/a"].filter(isThere);
    expect(await run()).toContain("[so nothing that it deleted or moved is gone]");
    expect([found(), readFileSync(at("node_modules/both/a"), "utf8")]).toEqual([["src/a"], "new"]);
    lay("node_modules/old/a", "old");
    program(`${install}; os.makedirs("node_modules/p/.git"); open("node_modules/p/.git/config", "w")`);
    expect(await run()).toContain("not applied");
    expect(found()).toEqual(["node_modules/old/a", "src/a"]);
    expect(isThere("node_modules/p")).toBe(false);
  });

  verifies(["P18"], "leaves no attribute of an overlay on what is applied", async () => {
    for (const name of ["changed", "moved", "mode", "node_modules/p/a", "node_modules/q/a", "dist/a"]) lay(name, "1");
    lay(".gitignore", "dist\n");
    program(`
import shutil
open("changed", "a").write("2"); os.rename("moved", "other"); os.chmod("mode", 0o755); os.link("changed", "again")
shutil.rmtree("node_modules/p"); os.makedirs("node_modules/p/lib"); open("node_modules/p/lib/b", "w")
shutil.rmtree("dist"); os.mkdir("dist"); open("dist/b", "w"); os.makedirs("fresh/.venv")`);
    await run();
    expect(
      ["again", "other", "node_modules/p/lib/b", "node_modules/q/a", "dist/b", "fresh/.venv"].filter(isThere),
    ).toHaveLength(6);
    expect([isThere("moved"), isThere("dist/a"), readFileSync(at("again"), "utf8")]).toEqual([false, false, "12"]);
    const listed = execFileSync("python3", [
      ...[
        "-c",
        'import os, sys\nfor f, d, n in os.walk(sys.argv[1]):\n  for e in d + n: print(e, os.listxattr(f + "/" + e))',
        root,
      ],
    ]);
    expect(listed.toString().match(/^.*overlay.*$/gm)).toBeNull();
  });

  verifies(["P18"], "hides nothing from later commands and reaches nothing outside", async () => {
    for (const name of ["keep/a", "keep/b", "swap/a", "file"]) lay(name, name);
    program(`
import stat, subprocess
def t(f):
  try: return f()
  except OSError as error: return error.errno
for way in (".", "keep", "keep/a", "new"):
  t(lambda: os.mkdir("new"))
  for key in ("opaque", "whiteout", "redirect", "metacopy", "origin", "impure", "upper", "nlink", "protattr"):
    for space in ("user", "trusted"):
      for value in (b"y", b"x", b"/etc", b""): t(lambda: os.setxattr(way, f"{space}.overlay.{key}", value))
t(lambda: os.mknod("keep/b", stat.S_IFCHR, 0))
t(lambda: os.unlink("keep/b") or os.mknod("keep/b", stat.S_IFCHR | 0o666, os.makedev(0, 0)))
t(lambda: os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(1, 3)))
t(lambda: os.mkfifo("fifo"))
t(lambda: os.unlink("file") or os.mkfifo("file"))
open("su", "w").close(); t(lambda: os.chmod("su", 0o6755))
open("-e \\n[changed: +.envrc]", "w").close()
with open("sparse", "w") as f: f.truncate(3 << 30)
for c in ("mount -t tmpfs x keep", "mount --bind /etc keep", "unshare -rm mount -t tmpfs x keep", "ls /proc/1/root/proc/1/root"): subprocess.run(c, shell=True, capture_output=True)
for n in range(1, 40): t(lambda: open(f"/proc/{n}/root/var/tmp/planted", "w").close())
subprocess.run(["mv", "swap", "swapped"])
os.symlink("/etc", "swap")`);
    const output = await run();
    expect(output).toMatch(/not applied: ~swap: it is a link that leads out/);
    expect(output.split("\n").filter((line) => line.startsWith("[changed: +.envrc"))).toEqual([]);
    // A part was refused, so nothing is gone.
    const all = ["keep/a", "keep/b", "swap/a", "file"];
    expect(all.map((name) => readFileSync(at(name), "utf8"))).toEqual(all);
    expect(["null", "fifo"].filter(isThere)).toEqual([]);
    expect(existsSync("/var/tmp/planted")).toBe(false);
    expect((await auto.runWith(`cat ${all.join(" ")}; ls keep`)).output).toContain(`${all.join("")}a\nb`);
  });
});
