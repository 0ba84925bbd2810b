/** Mode `auto` from the command line: what runs without asking, what asks, and how the sandbox is opened. */

import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { needs } from "../support/needs.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let home: string;
let cwd: string;
let person: string;
const open: { close(): unknown }[] = [];

beforeEach(async () => {
  [home, cwd, person] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
  const git = (...args: string[]) => execFileSync("git", args, { cwd });
  git("init", "-q");
  git("config", "user.name", "Dev");
  git("config", "user.email", "dev@example.com");
  await writeFile(join(cwd, "package.json"), '{ "name": "sample", "scripts": { "test": "node --test" } }\n');
  await writeFile(join(cwd, "a.test.mjs"), 'import test from "node:test"; test("a", () => {});\n');
  await mkdir(join(person, ".ssh"));
  await writeFile(join(person, ".ssh/id"), "not for you\n");
  await writeFile(join(person, "diary.txt"), "not for you\n");
});
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function calling(
  calls: readonly (readonly [command: string, more?: JsonObject])[],
  flags: readonly string[] = [],
  place: Readonly<Record<string, string>> = {},
) {
  return asking(
    calls.map(([command, more]) => reply().tool("bash", { command, ...more })),
    flags,
    place,
  );
}

async function asking(
  replies: readonly ReturnType<typeof reply>[],
  flags: readonly string[],
  place: Readonly<Record<string, string>> = {},
) {
  const mock: MockModel = await startMockModel({ script: script([...replies, reply().text("Done.")]) });
  open.push(mock);
  const env = { OXBOW_HOME: home, HOME: person, ...providerEnvironment("anthropic", mock.url), ...place };
  const result = await oxbow(["run", "--stream-events", ...flags, "go"], { cwd, env });
  const results = envelopes(result.stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
  const text = results.map(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  return { ...result, statuses: results.map(({ status }) => status), by: results.map((each) => each.decided_by), text };
}

needs("sandbox").describe("mode auto, which is the default,", () => {
  verifies(["P15", "P1", "P8"], "runs builds and tests unasked", async () => {
    const { statuses, by, text, code } = await calling([
      ["npm test"],
      ["mkdir -p out && echo built > out/a.txt"],
      ["ls"],
    ]);
    expect([statuses, text[0]]).toEqual([["ok", "ok", "ok"], expect.stringContaining("pass 1")]);
    expect(by).toEqual(["mode auto", "mode auto", "quiet preset"]);
    expect(await readFile(join(cwd, "out/a.txt"), "utf8")).toBe("built\n");
    expect(code).toBe(0);
  });

  verifies(
    ["P1", "P8"],
    "asks for the network, .git, places outside and much of the workspace, and says why",
    async () => {
      const { statuses, text, code } = await calling([
        ["npm install left-pad"],
        ["git add . && git commit -m x"],
        ["echo x > /usr/local/x"],
        ["rm -rf ./*"],
        ["node -v", { allow: "network" }],
        ["node -v", { outside_sandbox: true }],
      ]);
      expect(statuses).toEqual(Array(6).fill("denied"));
      expect(text[0]).toContain("needs the network");
      expect(text[1]).toContain("git add writes .git");
      expect(text[2]).toContain("outside the workspace");
      expect(text[3]).toContain("deletes the whole folder");
      expect(text[4]).toContain("asks for the network");
      expect(text[5]).toContain("outside the sandbox");
      expect(code).toBe(4);
      expect(await readdir(cwd)).toContain("package.json");
    },
  );

  verifies(
    ["P1", "P8"],
    "asks before it deletes many files that git tracks, and not before it deletes what a build made",
    async () => {
      for (const folder of ["src", "dist"]) {
        await mkdir(join(cwd, folder));
        for (let at = 0; at < 30; at++) await writeFile(join(cwd, folder, `${at}.js`), "1\n");
      }
      execFileSync("git", ["add", "src"], { cwd });
      const { statuses, text } = await calling([
        ["rm -rf src"],
        ["cd src && rm *.js"],
        ["rm -rf dist"],
        ["ls src | wc -l"],
      ]);
      expect(statuses).toEqual(["denied", "denied", "ok", "ok"]);
      expect(text[0]).toContain("It deletes 30 files that git tracks (src).");
      expect(text[3]).toContain("30");
      expect(await readdir(cwd)).not.toContain("dist");
    },
  );

  verifies(["P15", "P8"], "hides the home folder and keeps .git as it is, whatever a program tries", async () => {
    const tries =
      "const fs = require('fs'); for (const f of ['diary.txt', '.ssh/id'].map((name) => process.argv[2] + '/' + name)) try { console.log(f, fs.readFileSync(f, 'utf8')) } catch (e) { console.log(e.code) }";
    await writeFile(join(cwd, "read.cjs"), tries);
    await writeFile(join(cwd, "plant.cjs"), "require('fs').writeFileSync('.git/HEAD', 'x')");
    const { statuses, text } = await calling([
      [`node read.cjs ${person}`],
      ["node plant.cjs"],
      [
        "node -e \"fetch('http://example.com').catch((e) => { console.error(e.cause.code, e.cause.message); process.exit(1) })\"",
      ],
    ]);
    expect(statuses).toEqual(["ok", "error", "error"]);
    expect(text[0]).not.toContain("not for you");
    expect(text[1]).toContain("The sandbox keeps");
    expect(text[2]).toContain("The sandbox has no network");
    expect(text[2]).toContain("allow = network");
  });

  verifies(
    ["P15", "P8"],
    "opens nothing for --auto-approve, which answers only what the sandbox contains",
    async () => {
      await writeFile(join(cwd, ".env"), "A=not-for-you\n");
      const calls = [
        ["git add a.test.mjs && git commit -qm first"],
        ["npm install left-pad"],
        ["cat .env"],
        ["node -v", { allow: "git" }],
        ["node -v", { outside_sandbox: true }],
        ["mkdir made && node -e \"require('fs').writeFileSync('made/b', '2')\""],
        ["rm -rf made/* made"],
      ] as const;
      for (const more of [[], ["--strict-permissions"], ["--permission-mode", "ask"]]) {
        const { statuses, text, code } = await calling(calls, ["--auto-approve", ...more]);
        expect(statuses, more.join(" ")).toEqual([...Array(5).fill("denied"), "ok", "ok"]);
        expect(text[0]).toContain("--auto-approve answers only what stays in the workspace and its sandbox");
        expect(code).toBe(4);
      }
      expect(execFileSync("git", ["status", "--short"], { cwd, encoding: "utf8" })).not.toContain("A ");
    },
  );

  verifies(["P15", "P8"], "hides the home folder from what --auto-approve answers in mode ask", async () => {
    await writeFile(join(cwd, "read.cjs"), "console.log(require('fs').readFileSync(process.argv[2], 'utf8'))");
    const diary = join(person, "diary.txt");
    const { statuses, text } = await calling(
      [[`node read.cjs ${diary}`], ["node -e \"require('fs').writeFileSync('.git/HEAD', 'x')\""]],
      ["--auto-approve", "--permission-mode", "ask"],
    );
    expect(statuses).toEqual(["error", "error"]);
    expect(text[0]).not.toContain("not for you");
  });

  verifies(["P15", "P1", "P7"], "is explained, and asks as mode ask does where nothing holds a command", async () => {
    const env = { OXBOW_HOME: home, HOME: person };
    const test = (command: string, ...flags: string[]) =>
      oxbow(["permissions", "test", ...flags, command], { cwd, env });
    const build = await test("make -j4");
    expect([build.code, build.stdout]).toEqual([
      0,
      expect.stringMatching(/By: mode auto\nBecause: It runs in the sandbox/),
    ]);
    const commit = await test("git commit -m x");
    expect([commit.code, commit.stdout]).toEqual([4, expect.stringContaining("git commit writes .git")]);
    expect(commit.stdout).toContain("You can allow for this session");
    expect((await test("make -j4", "--permission-mode", "ask")).code).toBe(4);
    const unrecorded = await calling([["touch made"]], ["--store", "none"]);
    expect(unrecorded.statuses).toEqual(["denied"]);
    expect(unrecorded.stderr).toContain("nothing could be undone");
    const { statuses } = await calling([["touch made"]], ["--sandbox", "off"]);
    expect(statuses).toEqual(["denied"]);
  });
});

needs("sandbox").describe("mode auto where no view of the workspace works", () => {
  verifies(["P18", "P15"], "asks before commands, unless the person's own settings accept direct writes", async () => {
    // A view cannot be made of a folder that holds its layers.
    const state = { OXBOW_HOME: "", XDG_STATE_HOME: join(cwd, "state"), XDG_CONFIG_HOME: join(person, "config") };
    const asked = await calling([["touch made"]], [], state);
    expect(asked.statuses).toEqual(["denied"]);
    expect(asked.stderr).toContain("commands write straight into the folder: Oxbow's own folder lies in the workspace");
    await mkdir(join(person, "config/oxbow"), { recursive: true });
    await writeFile(join(person, "config/oxbow/config.toml"), 'containment = "direct"\n');
    expect((await calling([["touch made"]], [], state)).statuses).toEqual(["ok"]);
    expect(await readdir(cwd)).toContain("made");
  });
});

describe("--auto-approve", () => {
  verifies(
    ["P8", "P1"],
    "answers neither for web_fetch nor for commands without a sandbox, only for edits",
    async () => {
      await writeFile(join(cwd, "run.sh"), "touch ran\n");
      let requests = 0;
      const server = createServer((_request, response) => {
        requests++;
        response.end("page");
      });
      await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
      open.push(server);
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const replies = [
        reply().tool("web_fetch", { url }),
        reply().tool("bash", { command: "sh run.sh" }),
        reply().tool("write", { path: "made.sh", content: "touch ran\n" }),
        reply().tool("bash", { command: "sh made.sh" }),
      ];
      const flags = ["--auto-approve", "--sandbox", "off", "--tool-set", "read,edit,command,web"];
      const { statuses, by, code } = await asking(replies, flags);
      expect(statuses).toEqual(["denied", "denied", "ok", "denied"]);
      expect(by[2]).toBe("--auto-approve");
      expect([requests, code]).toEqual([0, 4]);
      expect(await readdir(cwd)).not.toContain("ran");
    },
  );
});
