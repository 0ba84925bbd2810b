import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

describe("an Oxbow that a model started", () => {
  verifies(["P4", "P9"], "changes no permissions, trust, keys, routes or budgets, and deletes no session", async () => {
    const home = await temporaryFolder();
    const cwd = await temporaryFolder();
    await mkdir(join(home, "list"));
    await writeFile(join(cwd, "AGENTS.md"), "Be kind.\n");
    const commands = [
      ["permissions", "set", ".", "rwxd"],
      ["permissions", "--json", "reset"],
      ["permissions", "--cwd", "list", "set . rwxd"],
      ["permissions", "safemode", "off"],
      ["ack"],
      ["auth", "lock"],
      ["creds", "delete", "anthropic"],
      ["session", "delete", "last", "--yes"],
      ["session", "gc"],
      ["session", "dismiss"],
      ["route", "add", "fast", "offline:echo"],
      ["run", "--auto-approve", "say hello"],
      ["--permission-mode", "allow", "say hello"],
      ["run", "--sandbox=off", "say hello"],
      ["run", "--allow", "bash: *", "say hello"],
      ["run", "--budget", "1000", "say hello"],
    ];
    for (const [index, args] of commands.entries()) {
      const env = { OXBOW_HOME: home, OXBOW_PROVIDER: "offline", OXBOW_AGENT: index % 2 === 0 ? "1" : "" };
      const { code, stderr, stdout } = await oxbow(args, { cwd: args.includes("--cwd") ? home : cwd, env });
      expect(code, args.join(" ")).not.toBe(0);
      expect(stderr + stdout, args.join(" ")).toMatch(/not (for )?(an )?agents?|There is no/);
    }
    const listed = await oxbow(["permissions"], { cwd, env: { OXBOW_HOME: home, OXBOW_AGENT: "1" } });
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining("Paths: none")]);
  });
});

describe("path permissions and safe mode", () => {
  verifies(
    ["P5", "P6"],
    "belong to the workspace they were set in; an older file for all counts until then",
    async () => {
      const home = await temporaryFolder();
      const [first, second] = [await temporaryFolder(), await temporaryFolder()];
      const env = { OXBOW_HOME: home };
      const say = async (cwd: string, ...args: string[]) =>
        (await oxbow(["permissions", ...args], { cwd, env })).stdout;
      await say(first, "set", "docs", "r");
      await say(first, "safemode", "on");
      expect(await say(first)).toContain("r---  docs");
      expect(await say(second)).toContain("Paths: none");
      expect(await say(second, "safemode", "status")).toContain("Safe mode is off");
      expect(await say(first, "safemode", "reset")).toContain("Safe mode is off");
      await writeFile(join(home, "config/path-permissions.json"), '{"schema_version":1,"paths":{"src":"r---"}}');
      expect(await say(first)).not.toContain("src");
      expect(await say(second)).toContain("r---  src");
    },
  );
});

describe("the line client", () => {
  verifies(["P7", "P6"], "audits what safe mode refuses a person, and marks no person as an agent", async () => {
    const cwd = await temporaryFolder();
    const env = { OXBOW_PROVIDER: "offline", MY_TOKEN: "hidden-value" };
    const input = "!echo agent=$OXBOW_AGENT.\n/env\n/safemode on\n!touch made\n/audit show\n/exit\n";
    const { stdout, stderr } = await oxbow(["--plain"], { cwd, env, input });
    expect(stdout + stderr).toContain("agent=.");
    expect(stdout).toMatch(/^Not passed, secret: .*MY_TOKEN/m);
    expect(stdout).not.toContain("hidden-value");
    expect(stdout).toMatch(/allowed\s+bash: echo agent=\$OXBOW_AGENT\.\s+\(person\)/);
    expect(stdout).toMatch(/denied\s+bash: touch made\s+\(safe mode\)/);
    expect(await readdir(cwd)).toEqual([]);
  });
});

describe("PATH with folders of the workspace", () => {
  verifies(["P3"], "starts none of them without asking, and works as before within its permissions", async () => {
    const cwd = await temporaryFolder();
    const bin = join(cwd, "node_modules/.bin");
    await mkdir(bin, { recursive: true });
    for (const name of ["ls", "tool"]) {
      await writeFile(join(bin, name), `#!/bin/sh\necho planted; touch '${cwd}/ran-${name}'\n`);
      await chmod(join(bin, name), 0o755);
    }
    const calls = ["ls", "cd node_modules && ls -la", "tool"].map((command) => reply().tool("bash", { command }));
    const mock = await startMockModel({ script: script([...calls, reply().text("Done.")]) });
    try {
      const home = await temporaryFolder();
      await mkdir(join(home, "config"), { recursive: true });
      await writeFile(
        join(home, "config/config.toml"),
        '[[permissions.rules]]\ntool = "bash"\ncommand = "tool"\ndecision = "allow"\n',
      );
      const PATH = `node_modules/.bin:../.bin:${bin}::${process.env.PATH ?? ""}`;
      const env = { OXBOW_HOME: home, PATH, ...providerEnvironment("anthropic", mock.url) };
      const { stdout } = await oxbow(["run", "--stream-events", "go"], { cwd, env });
      const results = envelopes(stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload.status] : []));
      expect(results).toEqual(["ok", "ok", "ok"]);
      expect((await readdir(cwd)).sort()).toEqual(["node_modules", "ran-tool"]);
    } finally {
      await mock.close();
    }
  });
});
