/** Commands in mode `auto` that make files at guarded names: they are renamed, the model and the user get a message, and a yes keeps them. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { PersonAnswer } from "../../src/chain/services.js";
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
/** The messages for the model and the user. On a busy machine the model gets it with the next command. */
const run = async () => {
  const { output = "asked" } = await auto.run("python3 make.py");
  await auto.flush();
  return `${output}\n${(await auto.run("true")).output}`;
};
const isThere = (name: string) => lstatSync(at(name), { throwIfNoEntry: false }) !== undefined;

/** Until the clock of the file system has moved on. */
async function someTicks(): Promise<void> {
  const now = Date.now();
  await until(() => Date.now() - now > 60);
}

beforeEach(async () => {
  base = realpathSync(mkdtempSync("/var/tmp/arrivals-"));
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
    ...[
      ".mcp.json",
      ".hg/hgrc",
      ".jj/repo/config.toml",
      "lib/.hg/hgrc",
      "a/b/c/d/e/f/g/h/i/.envrc",
      ".VSCODE/tasks.json",
    ],
    ...["sub/.Npmrc", "gradle/wrapper/gradle-wrapper.jar", "x.code-workspace", ".roo/mcp.json", "node/.aider.conf.yml"],
  ];

  verifies(["P8", "P15", "P16"], "is renamed, and the model and the person learn how to keep it", async () => {
    program(
      `for name in ${JSON.stringify(NAMES)}:\n  os.makedirs(os.path.dirname(name) or ".", exist_ok=True)\n  open(name, "w").write("planted")`,
    );
    const output = await run();
    expect(NAMES.filter(isThere)).toEqual([]);
    expect(readFileSync(at(".envrc.set-aside-by-oxbow"), "utf8")).toBe("planted");
    expect(readFileSync(at(".vscode.set-aside-by-oxbow/tasks.json"), "utf8")).toBe("planted");
    for (const told of [output, auto.told.join("\n")]) {
      expect(told).toContain(".VSCODE (editors run or obey it) is set aside as .VSCODE.set-aside-by-oxbow");
      expect(told).toMatch(/To keep it, run: mv \S+\.set-aside-by-oxbow \S+/);
    }
    const before = readdirSync(root);
    expect(await run()).not.toBe("asked");
    expect(before.every((name) => isThere(name))).toBe(true);
    expect(readFileSync(at(".envrc.set-aside-by-oxbow-2"), "utf8")).toBe("planted");
  });

  verifies(["P8", "P15", "P16"], "is kept when a person says yes to that path, and nothing beside it", async () => {
    program('os.makedirs(".vscode"); open(".vscode/tasks.json", "w"); open(".envrc", "w")');
    await run();
    const command = "mv .vscode.set-aside-by-oxbow .vscode && python3 make2.py";
    lay("make2.py", 'open(".envrc", "w"); open(".vscode/launch.json", "w")');
    expect((await auto.judge(command)).law).toBe("guarded");
    await auto.ask(command, YES);
    expect([isThere(".vscode/tasks.json"), isThere(".envrc")]).toEqual([true, false]);
    expect(
      (await auto.ask("echo x > sub.txt && mkdir -p deep/.vscode && echo '{}' > deep/.vscode/a.json", YES)).output,
    ).not.toContain("aside");
    expect(isThere("deep/.vscode/a.json")).toBe(true);
    // From now on it is guarded as what was there before.
    lay("make3.py", 'open(".vscode/tasks.json", "w")');
    expect((await auto.run("python3 make3.py")).output).toContain("Read-only");
  });

  const TRICKS: readonly (readonly [what: string, code: string, planted: string])[] = [
    ["renamed from an innocent name", 'os.mkdir("x"); open("x/tasks.json","w"); os.rename("x",".vscode")', ".vscode"],
    ["a folder that gives an old file a guarded path", 'os.rename("cargo", ".cargo")', ".cargo/config.toml"],
    ["a link", 'os.symlink("data", ".vscode")', ".vscode"],
    ["a hard link", 'os.link("data/a", ".envrc")', ".envrc"],
    ["behind a name that is taken", 'os.makedirs(".envrc.set-aside-by-oxbow/x"); open(".envrc","w")', ".envrc"],
    [
      "made, removed and made again",
      '[(open(".envrc","w"), os.unlink(".envrc")) for _ in range(9)]; open(".envrc","w")',
      ".envrc",
    ],
    ["with a time in the past", 'open(".envrc","w"); os.utime(".envrc", (1, 1))', ".envrc"],
    ["in a folder that may not be changed", 'os.mkdir("d"); open("d/.envrc","w"); os.chmod("d", 0o555)', "d/.envrc"],
    [
      "in a folder with a strange name",
      'os.mkdir("-n \\n\\x1b[31m"); open("-n \\n\\x1b[31m/.envrc","w")',
      "-n \n\x1b[31m/.envrc",
    ],
    ["a socket or pipe", 'os.mkfifo(".npmrc")', ".npmrc"],
    ["a file that a git setting names", 'open("revs","w")', "revs"],
    ["a folder that a git setting names", 'os.makedirs("team/tool")', "team/tool"],
  ];
  it.each(TRICKS)("is found: %s", async (_what, code, planted) => {
    lay("cargo/config.toml");
    lay("data/a");
    git("config", "blame.ignoreRevsFile", "revs");
    git("config", "diff.x.textconv", "./team/tool");
    program(code);
    expect(await run()).toContain(".set-aside-by-oxbow");
    expect(isThere(planted)).toBe(false);
    expect(auto.told.join("")).not.toContain("\x1b");
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

needs("sandbox", "python3").describe("what a command did not make", () => {
  it("stays: what the person made before, between and in guarded folders during commands", async () => {
    lay(".idea/workspace.xml", "1");
    lay("a/b/c/d/e/f/g/h/i/j/k/l/m/n/.npmrc");
    program('open("a/b/c/d/e/f/g/h/i/j/k/l/m/n/new","w"); open("out","w")');
    // A file of the last ticks before a command counts as the command's.
    await someTicks();
    await run();
    await someTicks();
    lay(".envrc");
    lay("packages/one/.npmrc");
    await auto.flush();
    await someTicks();
    await run();
    program('import time\nopen("begun","w")\nwhile not os.path.exists("go"): time.sleep(0.01)');
    const running = run();
    await until(() => isThere("begun"));
    lay(".idea/shelf/x", "2");
    lay("go");
    await running;
    for (const name of [".idea/shelf/x", "a/b/c/d/e/f/g/h/i/j/k/l/m/n/.npmrc", ".envrc", "packages/one/.npmrc"])
      expect([name, isThere(name)]).toEqual([name, true]);
    expect(auto.told).toEqual([]);
  });

  verifies(["P16"], "cannot be changed or moved away, however deep it lies", async () => {
    const deep = "a/b/c/d/e/f/g/h";
    lay(`${deep}/.envrc`, "mine");
    program(`open("${deep}/.envrc","w")`);
    expect(await run()).toContain("Read-only file system");
    program(`os.rename("${deep}", "${deep}.old")`);
    expect(await run()).toContain("busy");
    expect(readFileSync(at(`${deep}/.envrc`), "utf8")).toBe("mine");
  });

  it("stays: what git checks out with a person's yes to git, but not what is beside it", async () => {
    const identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    lay(".vscode/settings.json", "{}");
    git("add", ".vscode");
    git(...identity, "commit", "-qm", "with");
    git("rm", "-rq", ".vscode");
    git(...identity, "commit", "-qm", "without");
    lay("make.py", 'open(".envrc","w")');
    await auto.ask("git checkout -q HEAD~1 && python3 make.py", YES);
    expect([isThere(".vscode/settings.json"), isThere(".envrc")]).toEqual([true, false]);
    expect(auto.told.join()).toContain(".vscode (editors run or obey it) came with git");
  });

  it("stays: what a command outside the sandbox makes, also while another runs", async () => {
    program('import time\nwhile not os.path.exists("go"): time.sleep(0.01)');
    await auto.background("python3 make.py");
    await auto.runWith("mkdir .vscode", {}, { outside_sandbox: true });
    await auto.flush();
    expect(isThere(".vscode")).toBe(true);
    lay("go");
  });

  it("is reported when a link at a guarded name was replaced", async () => {
    lay("config/settings.json");
    symlinkSync("config", at(".vscode"));
    program('os.unlink(".vscode"); os.symlink("data", ".vscode")');
    await run();
    expect(auto.told.join()).toContain(".vscode (editors run or obey it) changed while a command ran");
    expect(existsSync(at("config"))).toBe(true);
  });
});
