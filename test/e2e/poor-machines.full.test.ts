/** Machines that lack what every program takes for granted. */
import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { needs } from "../support/needs.js";
import { BIN, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

/** Dozens of programs one after another, on a machine that may be busy with others. */
const SLOW_MS = 240_000;

async function shell(script: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const home = await temporaryFolder();
  const env = { PATH: process.env.PATH ?? "", HOME: home, OXBOW_HOME: home, NODE: process.execPath, BIN };
  const cwd = await temporaryFolder();
  return new Promise((resolve) => {
    execFile("bash", ["-c", script], { env, cwd }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });
}

describe("a machine", () => {
  verifies(["O5"], "without the working directory gets a sentence", async () => {
    for (const command of ['run --provider offline "hello you"', "session list", "tools", "doctor"]) {
      const { code, stderr } = await shell(`mkdir gone; cd gone; rmdir ../gone; "$NODE" "$BIN" ${command}`);
      expect(code).not.toBe(0);
      expect(stderr.trimEnd().split("\n").at(-1)).toBe(
        "oxbow: The working directory does not exist or cannot be read. Change to another one, or give one with --cwd.",
      );
    }
  });

  verifies(["O5"], "that lets few files be open gets a sentence", async (context) => {
    context.skip(!existsSync("/proc/self/limits"), "the system does not tell its limits in a file");
    for (const command of ['run --provider offline "hello you"', "session list"]) {
      const { code, stderr } = await shell(`ulimit -n 20; exec "$NODE" "$BIN" ${command}`);
      expect(code).toBe(1);
      expect(stderr).toBe(
        "oxbow: the limit of open files is 20, and Oxbow needs 64. Raise the limit: ulimit -n 1024\n",
      );
    }
  });

  verifies(["S1"], "whose disk is full or read-only still lists and verifies its sessions", async (context) => {
    const mount = 'mkdir d && mount -t tmpfs -o size=6m tmpfs d && export OXBOW_HOME="$PWD/d/home"';
    const may = await shell(`unshare -m bash -c '${mount}'`);
    context.skip(may.code !== 0, "no file system can be mounted here");
    const made = '"$NODE" "$BIN" run --provider offline "hello you" > /dev/null';
    const look = '"$NODE" "$BIN" session list && "$NODE" "$BIN" session verify --all';
    const full = "head -c 7000000 /dev/zero > d/fill 2> /dev/null; true";
    for (const state of [full, "mount -o remount,ro d"]) {
      const { code, stdout, stderr } = await shell(`unshare -m bash -c '${mount} && ${made} && ${state} && ${look}'`);
      expect([code, stdout], stderr).toEqual([0, expect.stringContaining("all unchanged")]);
      expect(stdout).toContain("hello you");
    }
  });

  verifies(
    ["O5"],
    "whose disk is full, read-only or has a file for a folder gets sentences",
    async (context) => {
      const mount = 'mkdir d && mount -t tmpfs -o size=12m tmpfs d && export OXBOW_HOME="$PWD/d/home"';
      context.skip((await shell(`unshare -m bash -c '${mount}'`)).code !== 0, "no file system can be mounted here");
      const oxbow = '"$NODE" "$BIN"';
      const made = [
        ...['run --provider offline "hello you"', "kb project add demo", 'kb observe note "the zebra is striped"'],
        ...["rag new docs", "rag ingest z.md", 'memory add "remember the zebra"'],
      ].map((command) => `${oxbow} ${command} > /dev/null`);
      const prepare = [mount, "echo zebra > z.md", ...made].join(" && ");
      const readers = ["session list", "kb search zebra", "rag query zebra"];
      const writers = ["memory add other", "mcp add two -- true", "route add main offline:offline", "token list"];
      const all = [...readers, ...writers];
      const lines = all.map((command) => `echo "> ${command}"; ${oxbow} ${command} < /dev/null 2>&1`);
      const states = {
        full: "head -c 13000000 /dev/zero > d/fill 2> /dev/null; true",
        "read-only": "mount -o remount,ro d",
        "a file for the configuration": "rm -rf d/home/config && echo x > d/home/config",
        "a file for the data": "rm -rf d/home/data && echo x > d/home/data",
      };
      for (const [state, change] of Object.entries(states)) {
        const { stdout } = await shell(`unshare -m bash -c '${prepare} && { ${change}; } && { ${lines.join("; ")}; }'`);
        const answers = `\n${stdout}`.split("\n> ").slice(1);
        expect(answers.length, stdout).toBe(all.length);
        const answerTo = (command: string) => answers[all.indexOf(command)];
        // Neither the name of an error nor what Node says about it.
        expect(
          stdout.match(/^.*(?:\bE[A-Z]{3,}\b:|no such file|no space left|not a directory).*$/gm),
          state,
        ).toBeNull();
        if (state.startsWith("a file")) continue;
        for (const reader of readers) expect(answerTo(reader), state).not.toContain("oxbow:");
        for (const reader of ["kb search zebra", "rag query zebra"])
          expect(answerTo(reader), state).toMatch(/\n.*zebra/);
        // A full disk may have room for a last small file.
        if (state === "full") continue;
        for (const writer of ["memory add other", "mcp add two -- true"]) {
          expect(answerTo(writer), state).toMatch(/oxbow: .*(?:disk is full|read-only).*\. [A-Z].*\./);
        }
      }
    },
    SLOW_MS,
  );

  verifies(["O5", "U9"], "whose home cannot be written says so once, and what helps", async (context) => {
    // No mode keeps root from writing.
    const [around, lock] =
      process.getuid?.() === 0 ? ["unshare -m", "mount -t tmpfs -o ro tmpfs h"] : ["", "chmod 555 h"];
    const locked = (script: string) =>
      shell(`${around} bash -c 'mkdir h && ${lock} && export HOME="$PWD/h" && unset OXBOW_HOME && ${script}'`);
    context.skip((await locked("true")).code !== 0, "no read-only folder can be made here");
    const helps = expect.stringMatching(
      /cannot write to its folder \S*\/h\/\S+\/oxbow .*Set OXBOW_HOME to a folder that you can write/,
    );
    for (const command of ['run --provider offline "hello you"', "serve"]) {
      const { code, stderr } = await locked(`"$NODE" "$BIN" ${command}`);
      expect([code, stderr]).toEqual([2, helps]);
    }
    for (const command of ["route add main offline:offline", "mcp add x -- true", "kb search x"]) {
      const { code, stderr } = await locked(`"$NODE" "$BIN" ${command}`);
      expect([code, stderr]).toEqual([1, helps]);
    }
    const { stdout } = await locked(`"$NODE" "$BIN" doctor`);
    expect(stdout.split("\n").filter((line) => line.startsWith("✗"))).toEqual([helps]);
    const unstored = await locked(`"$NODE" "$BIN" run --store none --provider offline "hello you"`);
    expect([unstored.code, unstored.stderr]).toEqual([0, helps]);
  });

  verifies(["P8"], "whose sandbox does not work runs no command if one is required", async () => {
    const broken = `mkdir -m 755 bin; printf '#!/bin/sh\\nexit 1\\n' > bin/bwrap; chmod 755 bin/bwrap; export PATH="$PWD/bin:$PATH"`;
    const run = `mkdir w; cd w; "$NODE" "$BIN" run --provider offline --permission-mode allow --sandbox required "run 'touch made'"; ls`;
    const { stdout, stderr } = await shell(`${broken}; ${run}`);
    expect(stderr).toContain("Commands do not run: a sandbox is required, and there is none: ");
    expect(stderr).not.toContain("Commands run without");
    expect(stdout).toContain("A sandbox is required, and this machine has none.");
    expect(stdout).not.toContain("To allow it");
    expect(stdout).not.toMatch(/^made$/m);
  });
});

needs("sandbox").describe("the sandbox", () => {
  verifies(["P8", "U9"], "holds with an OXBOW_HOME in the workspace, which a command cannot change", async () => {
    const attack =
      "d=rel; mkdir -p \\$d/config; echo x > \\$d/config/config.toml; mv \\$d other; touch \\$d/cache/x; touch made";
    const { stdout, stderr } = await shell(
      `export OXBOW_HOME=rel; "$NODE" "$BIN" run --provider offline --sandbox required --permission-mode allow "run '${attack}'"; find . -name config.toml; ls; cd rel; OXBOW_HOME=../rel "$NODE" "$BIN" session list --all`,
    );
    expect(stderr).not.toContain("sandbox");
    expect(stdout).toContain("ended: exit code 0");
    expect(stdout).toMatch(/^made$/m);
    expect(stdout).not.toMatch(/^other$|^\.\/.*config\.toml$/m);
    // The same home from another folder.
    expect(stdout).toMatch(/done +sess_/);
  });

  verifies(["P8"], "does not block every command because of one .git that cannot be followed", async () => {
    const odd = [
      "mkdir a b c d e f; git init -q .; echo text > file",
      "echo nonsense > a/.git",
      "echo 'gitdir: ../file/below' > b/.git",
      "ln -s .git c/.git",
      "mkdir d/.git; ln -s config d/.git/config",
      "ln -s nowhere e/.git; ln -s nowhere f/link; echo 'gitdir: link/g' > f/.git",
    ].join("; ");
    const { stdout } = await shell(`${odd}; "$NODE" "$BIN" run --provider offline "run 'echo it went'"`);
    expect(stdout).toContain("ended: exit code 0");
    expect(stdout).toContain("it went");
  });

  verifies(["T6", "O5"], "finds the shell that doctor names, also if PATH begins below /tmp", async () => {
    const folder = mkdtempSync("/tmp/oxbow-test-shell-");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    chmodSync(folder, 0o755);
    copyFileSync("/bin/sh", join(folder, "bash"));
    const path = `export PATH="${folder}:$PATH"`;
    const { stdout } = await shell(`${path}; "$NODE" "$BIN" run --provider offline "run 'echo it went'"`);
    expect(stdout).toContain("it went");
    const doctor = await shell(`${path}; "$NODE" "$BIN" doctor`);
    expect(doctor.stdout).toMatch(/bash .*\/bash$/m);
    expect(doctor.stdout).not.toContain(folder);
  });
});
