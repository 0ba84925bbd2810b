/** Mode `auto` with the real judge, sandbox and shell: ordinary commands run, a person's yes opens what it was for, and no more. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { PersonAnswer } from "../../src/chain/services.js";
import { findProgram } from "../../src/system/find-program.js";
import ordinary from "../fixtures/ordinary-commands.json" with { type: "json" };
import { openAutoMode } from "../support/auto-mode.js";
import { needs } from "../support/needs.js";
import { isThorough } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const PATH = process.env.PATH ?? "";
const servers: { close(): unknown }[] = [];

type Auto = Awaited<ReturnType<typeof openAutoMode>>;
let [base, root, home]: string[] = [];
let auto: Auto;

const place = (name: string) => join(base ?? "", name);
const lay = (path: string, content: string) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
};

async function begin(options: { readonly home?: string } = {}): Promise<void> {
  base = realpathSync(mkdtempSync("/var/tmp/auto-mode-"));
  home = options.home ?? place("home");
  root = options.home === undefined ? place("home/code/project") : place("project");
  mkdirSync(root, { recursive: true });
  execFileSync("git", ["init", "-q"], { cwd: root });
  auto = await openAutoMode({ root, home, ownFolder: place("own"), path: PATH });
}

async function end(): Promise<void> {
  await auto.close();
  for (const server of servers.splice(0)) server.close();
  rmSync(base ?? "", { recursive: true, force: true });
}

needs("sandbox").describe("ordinary build and test commands", () => {
  beforeAll(() => begin({ home: homedir() }));
  afterAll(end);

  verifies(["P15", "P1", "P8"], "are at least 200, and all run without asking", async () => {
    const { commands } = ordinary;
    expect(commands.length).toBeGreaterThanOrEqual(200);
    const asked: string[] = [];
    for (const { command } of commands) {
      const { decision, reason: why, openings } = await auto.judge(command);
      if (decision !== "allow" || openings !== undefined) asked.push(`${command}: ${decision}, ${why}`);
    }
    expect(asked).toEqual([]);
  });

  /** Each with the program that has to be installed. The slow ones are for thorough runs. */
  const REAL: readonly (readonly [program: string, command: string, how?: "slow"])[] = [
    ["npm", "npm test"],
    ["npm", "npm run build && npm pack --silent", "slow"],
    ["node", "node build.mjs && node --test"],
    ["make", "make -j4 && make test"],
    ["gcc", "gcc -O2 -o hello c/hello.c && ./hello"],
    ["git", "git status --short && git diff && git apply fix.patch"],
    ["bash", "mkdir -p a/b && touch a/b/c && sed -i 's/one/two/' data.txt && rm -rf a && tar czf x.tgz data.txt"],
    ["pytest", "pytest -q", "slow"],
    ["python3", "python3 -m venv .venv && .venv/bin/python -c 'import sys; print(sys.prefix)'", "slow"],
    ["python3", "python3 -m unittest discover -q"],
    ["cmake", "cmake -S . -B build && cmake --build build -j && ctest --test-dir build", "slow"],
    ["ninja", "cmake -G Ninja -S . -B ninja && ninja -C ninja", "slow"],
    ["cargo", "cargo test && cargo build --release", "slow"],
    ["go", "go build ./... && go test ./...", "slow"],
    ["go", "go vet ./... && gofmt -l .", "slow"],
    ["pnpm", "pnpm test && pnpm install --offline", "slow"],
    ["yarn", "yarn test && yarn install --offline", "slow"],
    ["mvn", "mvn -o -q validate", "slow"],
    ["perl", "perl -pi -e 's/two/three/' data.txt"],
    ["javac", "javac -d classes Main.java && java -cp classes Main", "slow"],
  ];

  const installed = REAL.filter(
    ([program, , how]) => findProgram(program, PATH, { outside: process.cwd() }) && (how !== "slow" || isThorough),
  );
  it.each(installed.map(([, command]) => command))("work in the sandbox: %s", async (command) => {
    sampleProject();
    const { verdict, exitCode, output } = await auto.run(command);
    expect([verdict.decision, exitCode, output]).toEqual(["allow", 0, expect.any(String)]);
  });
});

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><packaging>pom</packaging></project>\n`;

function sampleProject(): void {
  const at = (name: string) => join(root ?? "", name);
  lay(
    at("package.json"),
    '{ "name": "sample", "version": "1.0.0", "scripts": { "test": "node --test", "build": "node build.mjs" } }',
  );
  lay(at("build.mjs"), 'import { writeFileSync } from "node:fs"; writeFileSync("built.txt", "x");');
  lay(at("a.test.mjs"), 'import test from "node:test"; test("a", () => {});');
  lay(at("test_a.py"), "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n");
  lay(at("c/hello.c"), "int main(void) { return 0; }\n");
  lay(at("data.txt"), "one\n");
  lay(at("fix.patch"), "--- a/data.txt\n+++ b/data.txt\n@@ -1 +1 @@\n-one\n+uno\n");
  lay(at("Makefile"), "all: hello\nhello: c/hello.c\n\t$(CC) -o $@ $<\ntest: all\n\t./hello\n");
  lay(
    at("CMakeLists.txt"),
    "cmake_minimum_required(VERSION 3.10)\nproject(a C)\nenable_testing()\nadd_executable(h c/hello.c)\nadd_test(h h)\n",
  );
  lay(at("Cargo.toml"), '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n');
  lay(at("src/lib.rs"), "#[test]\nfn a() {}\n");
  lay(at("go.mod"), "module example.com/a\n\ngo 1.20\n");
  lay(at("a.go"), "package a\n");
  lay(at("pom.xml"), POM);
  lay(at("Main.java"), "class Main { public static void main(String[] a) { System.out.println(1); } }");
}

needs("sandbox").describe("a contained command", () => {
  beforeEach(() => begin());
  afterEach(end);

  const run = (command: string, openings: readonly string[] = []) => auto.runWith(command, { openings });

  verifies(["P15", "P8"], "sees of the home folder the tool chains that PATH names, and nothing else", async () => {
    await auto.close();
    for (const name of [
      ".ssh/id",
      "notes.txt",
      ".cargo/credentials.toml",
      ".npmrc",
      ".config/gh/hosts.yml",
      "code/other/a",
    ])
      lay(place(`home/${name}`), "private");
    lay(place("home/.gitconfig"), "[user]\n\tname = Dev\n");
    for (const name of [".cargo/bin/tool", ".nvm/versions/node/v1/bin/thing", ".venvs/one/bin/py"]) {
      lay(place(`home/${name}`), "#!/bin/sh\necho I am $0\n");
      execFileSync("chmod", ["+x", place(`home/${name}`)]);
    }
    symlinkSync(place("home/notes.txt"), join(root ?? "", "link"));
    const entries = [".cargo/bin", ".nvm/versions/node/v1/bin", ".venvs/one/bin"].map((name) => place(`home/${name}`));
    auto = await openAutoMode({
      root: root ?? "",
      home: home ?? "",
      ownFolder: place("own"),
      path: [...entries, PATH].join(":"),
    });
    expect((await run("tool && thing && py")).output.match(/I am/g)).toHaveLength(3);
    expect((await run("find ~ -name own -prune -o -type f -print | sort")).output.split("\n")).toEqual(
      [".cargo/bin/tool", ".gitconfig", ".nvm/versions/node/v1/bin/thing", ".venvs/one/bin/py"]
        .map((name) => place(`home/${name}`))
        .concat(
          // The workspace's own files lie in the home folder too.
          execFileSync("find", [root ?? "", "-type", "f"], { encoding: "utf8" })
            .trim()
            .split("\n"),
        )
        .sort(),
    );
    expect((await run(`cat ${home}/notes.txt`)).output).toContain("The sandbox hides the home folder");
    expect((await run("cat link")).exitCode).toBe(1);
    expect((await run("echo x > ~/.profile && cat ~/.profile")).output).toBe("x");
    expect(existsSync(place("home/.profile"))).toBe(false);
    expect((await run("echo x >> ~/.cargo/bin/tool")).output).toContain("Read-only");
  });

  verifies(["P15", "P8"], "keeps caches for the workspace between commands, and nothing else", async () => {
    await run('mkdir -p "$XDG_CACHE_HOME" && echo kept > "$XDG_CACHE_HOME/x" && echo lost > ~/x && echo lost > /tmp/x');
    expect((await run('cat "$XDG_CACHE_HOME/x"; ls ~/x /tmp/x 2>/dev/null')).output).toContain("kept");
    expect((await run("npm config get cache")).output).toContain(place("own/cache/builds"));
    expect((await run("ls ~/x")).exitCode).not.toBe(0);
    // Where the home folder is readable, it cannot be changed.
    const { output } = await run('cat "$XDG_CACHE_HOME/x"; touch "$npm_config_cache-new" ~/x', ["git"]);
    expect(output).toMatch(/^kept\ntouch: cannot touch [^\n]*\/x': Read-only/);
  });

  verifies(["P15", "P8"], "cannot lead a later mount elsewhere by a link in a cache", async () => {
    const cache = (await run('dirname "$npm_config_cache"')).output;
    await run(
      `cd ${cache} && rm -rf npm xdg && ln -s /etc xdg && ln -s ${home} npm && cd .. && ln -sfn /etc caches; ls -la`,
    );
    expect((await run("cat ~/notes.txt /etc/shadow; touch $XDG_CACHE_HOME/planted")).exitCode).not.toBe(0);
    expect(existsSync("/etc/planted")).toBe(false);
    expect(readFileSync("/etc/hosts", "utf8")).not.toBe("");
  });

  verifies(["P15", "P8", "P18"], "cannot change anything of git, in no repository of the workspace", async () => {
    const at = (name: string) => join(root ?? "", name);
    mkdirSync(at("lib"));
    execFileSync("git", ["init", "-q"], { cwd: at("lib") });
    execFileSync("git", ["init", "-q", "--bare", "store"], { cwd: root });
    const look = () =>
      execFileSync("sh", ["-c", "find .git lib store | sort; find .git lib store -type f -exec cksum {} +"], {
        cwd: root,
      });
    const before = look();
    for (const file of [".git/HEAD", ".git/new", "lib/.git/index", "store/HEAD", ".git/info/exclude"])
      expect([file, (await run(`echo x > ${file}`)).output]).toEqual([
        file,
        expect.stringMatching(/Read-only|not applied/),
      ]);
    for (const what of [".git", "lib/.git", "lib", "store"])
      expect([what, (await run(`mv ${what} away`)).output]).toEqual([what, expect.stringMatching(/busy|not applied/)]);
    expect(look()).toEqual(before);
    expect((await run("git commit --allow-empty -m x")).output).toContain("allow = git");
    const opened = await run(
      "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=%s",
      ["git"],
    );
    expect(opened.output).toMatch(/^x\n\[changed: .*\.git\/index/);
    const config = readFileSync(at(".git/config"), "utf8");
    const refused = await run("git config core.fsmonitor ./x; echo x > .git/hooks/pre-commit", ["git"]);
    expect(refused.output).toContain("not applied");
    expect(readFileSync(at(".git/config"), "utf8")).toBe(config);
    expect(existsSync(at(".git/hooks/pre-commit"))).toBe(false);
  });

  verifies(["P15", "P8", "P2"], "gets what a person says yes to, for that command only", async () => {
    const server = createServer((_, answer) => answer.end("from outside")).listen(0, "127.0.0.1");
    servers.push(server);
    await new Promise((resolve) => server.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const command = `node -e "fetch('${url}').then((r) => r.text()).then(console.log, () => console.log('nothing'))"`;
    const yes: PersonAnswer = { decision: "allow_once", decidedBy: "person" };
    expect((await auto.ask(command, yes)).output).toBe("nothing");
    expect((await auto.ask(command, yes, { allow: "network" })).output).toBe("from outside");
    expect((await auto.ask(command, { ...yes, decision: "deny" }, { allow: "network" })).output).toContain(
      "refused this",
    );
    expect((await auto.ask(command, yes)).output).toBe("nothing");
    // The tool as a whole was allowed with these, which is no yes to the network.
    await auto.ask("true", { ...yes, decision: "allow_tool" }, { allow: "network" });
    const { decision, openings } = await auto.judge("npm install x");
    expect([decision, openings]).toEqual(["ask", ["network"]]);
    expect((await auto.judge(command, { allow: "network" })).decision).toBe("ask");
  });

  verifies(["P15", "P1", "P8"], "does not run beside one that was opened for another reason", async () => {
    const yes: PersonAnswer = { decision: "allow_pattern", decidedBy: "person" };
    await auto.ask("git commit -m first", yes);
    expect((await auto.judge("git commit -m second")).decision).toBe("allow");
    expect((await auto.judge("node plant.js && git commit -m second")).decision).toBe("ask");
    expect((await auto.judge("node plant.js")).openings).toBeUndefined();
  });
});
