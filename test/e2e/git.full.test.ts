/** The program in repositories that try to have something run, or read, by git. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { needs, skipWithout } from "../support/needs.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let home: string;
let cwd: string;
let mock: MockModel | undefined;
beforeEach(async () => {
  home = await temporaryFolder();
  cwd = await temporaryFolder();
  git("init", "-q", "-b", "main");
  await writeFile(join(cwd, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "first");
});
afterEach(() => mock?.close());

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@localhost", ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: home },
  });

/** The model makes these calls, then says that it is done. */
async function calling(calls: readonly (readonly [string, JsonObject])[], ...flags: string[]) {
  mock = await startMockModel({
    script: script([...calls.map(([tool, args]) => reply().tool(tool, args)), reply().text("Done.")]),
  });
  const env = { OXBOW_HOME: home, HOME: home, ...providerEnvironment("anthropic", mock.url) };
  const result = await oxbow(["run", "--stream-events", ...flags, "go"], { cwd, env });
  const results = envelopes(result.stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
  return {
    ...result,
    statuses: results.map(({ status }) => status),
    text: results
      .flatMap(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")))
      .join("\n"),
  };
}
const bash = (command: string): readonly [string, JsonObject] => ["bash", { command }];

describe("git in the default mode", () => {
  /** The person's own settings name a hook in the repository, which looking would start. */
  async function nameHook(): Promise<void> {
    await writeFile(join(home, ".gitconfig"), "[core]\n\thooksPath = hooks\n");
    execFileSync("mkdir", [join(cwd, "hooks")]);
    await writeFile(join(cwd, "hooks/post-index-change"), `#!/bin/sh\n: > "${join(cwd, "MARKER")}"\n`);
    await chmod(join(cwd, "hooks/post-index-change"), 0o755);
    execFileSync("touch", ["-d", "2020-01-01", join(cwd, "a.txt")]);
  }

  verifies(
    ["P3"],
    "looks unasked again and again, also while the sandbox guards places that are not there",
    async () => {
      const { statuses } = await calling([
        bash("git status"),
        bash("git status --short"),
        bash("git diff; git status"),
      ]);
      expect(statuses).toEqual(["ok", "ok", "ok"]);
    },
  );

  verifies(
    ["P3"],
    "asks where looking would start a hook that the person's own settings name in the repository",
    async () => {
      await nameHook();
      expect((await calling([bash("git diff")], "--permission-mode", "ask")).statuses).toEqual(["denied"]);
      expect(existsSync(join(cwd, "MARKER"))).toBe(false);
    },
  );

  verifies(["P3", "P8"], "looks without that hook where a sandbox holds the command", async (context) => {
    skipWithout(context, "sandbox");
    await nameHook();
    // It sees neither the person's settings nor a git folder that it could change.
    expect((await calling([bash("git diff")], "--permission-mode", "auto")).statuses).toEqual(["ok"]);
    expect(existsSync(join(cwd, "MARKER"))).toBe(false);
  });

  verifies(["T1"], "shows the model no line of a file that the repository's configuration names", async () => {
    const secret = join(home, "secret");
    await writeFile(secret, "do-not-show-this\n");
    git("config", "blame.ignoreRevsFile", secret);
    const { statuses, text } = await calling([bash("git blame a.txt")]);
    expect(statuses).toEqual(["error"]);
    expect(text).not.toContain("do-not-show-this");
  });
});

needs("sandbox").describe("a repository that a sandboxed command leaves behind", () => {
  verifies(["P8", "P18"], "never comes into being, and the user gets a message", async () => {
    const marker = join(home, "MARKER");
    await writeFile(join(cwd, "program"), `#!/bin/sh\n: > "${marker}"\n`);
    await chmod(join(cwd, "program"), 0o755);
    const command =
      "git init -q lib && git -C lib -c user.name=A -c user.email=a@b commit -q --allow-empty -m x && " +
      'git -C lib config core.fsmonitor "$PWD/program" && git -c advice.addEmbeddedRepo=false add lib';
    const { statuses, stderr } = await calling([bash(command)], "--permission-mode", "allow");
    expect([statuses, stderr]).toEqual([["error"], expect.stringContaining("+lib/.git/")]);
    git("status");
    expect(existsSync(marker)).toBe(false);
    expect(existsSync(join(cwd, "lib/.git"))).toBe(false);
    expect(git("status", "--porcelain")).not.toContain("lib");
  });
});

needs("sandbox").describe("an interactive rebase", () => {
  const REBASE = `GIT_SEQUENCE_EDITOR="sed -i '2s/pick/fixup/'" git rebase -i HEAD~2`;
  const subjects = () => git("log", "--format=%s").trim().split("\n");

  beforeEach(async () => {
    git("config", "user.name", "Ann");
    git("config", "user.email", "ann@localhost");
    for (const name of ["second", "third"]) {
      await writeFile(join(cwd, name), "");
      git("add", ".");
      git("commit", "-qm", name);
    }
  });

  verifies(["P18"], "is done where the mode allows everything, and where a rule allows this command", async () => {
    for (const flags of [
      ["--permission-mode", "allow"],
      ["--permission-mode", "ask", "--allow", `bash: command=${REBASE}`],
      ["--permission-mode", "auto", "--allow", `bash: command=${REBASE}`],
    ]) {
      const start = git("rev-parse", "HEAD").trim();
      expect([flags, (await calling([bash(REBASE)], ...flags)).statuses]).toEqual([flags, ["ok"]]);
      expect(subjects()).toEqual(["second", "first"]);
      expect(git("status", "--porcelain")).toBe("");
      git("fsck", "--strict");
      await mock?.close();
      git("reset", "-q", "--hard", start);
    }
  });

  verifies(
    ["P18"],
    "is asked about otherwise, and a step that runs a program is never applied without a yes",
    async () => {
      expect((await calling([bash(REBASE)], "--permission-mode", "auto")).statuses).toEqual(["denied"]);
      await mock?.close();
      const stops = REBASE.replace("2s/pick/fixup/", "1i break");
      const { text } = await calling([bash(stops)], "--permission-mode", "allow");
      expect(text).toContain("a rebase runs the commands in it");
      expect(subjects()).toEqual(["third", "second", "first"]);
    },
  );
});
