/** The files of other tools that name MCP servers, as they are found, approved and put in order. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { chooseServers } from "../../src/extensions/mcp/choose-servers.js";
import { pinProblem } from "../../src/extensions/mcp/program-pins.js";
import { parseFlags } from "../../src/feature/flags.js";
import { openApprovals } from "../../src/runtime/content/approvals.js";
import { findExtensions } from "../../src/runtime/content/find-extensions.js";
import { approveServer, configPlace } from "../../src/runtime/mcp/open-server.js";
import { pinPlace } from "../../src/runtime/mcp/server-pins.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { discoverContent } from "../../src/security/trust/discover.js";
import { reviewContent } from "../../src/security/trust/review.js";
import { Testbed } from "../../src/security/trust/test-support/testbed.js";
import { verifyAckCommand } from "../../src/security/trust/verify-ack-command.js";
import { describeWaiting } from "../../src/security/trust/waiting-content.js";
import { SERVER } from "../support/mcp-project.js";
import { oxbow } from "../support/program.js";
import { oxbowHere } from "../support/program-here.js";
import { verifies } from "../verifies.js";

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.remove());

async function placeOf() {
  const home = join(bed.base, "home");
  const variables = { PATH: process.env.PATH, OXBOW_HOME: home, HOME: home };
  const loaded = await loadSettings(parseFlags([], [], ""), variables);
  return { loaded, variables, root: bed.folder, notify: () => {} };
}

async function servers() {
  const place = await placeOf();
  const options = { ...place, color: false, width: 80, skipUnapproved: true, allowProjectHooks: false };
  const { files } = await findExtensions(options);
  return chooseServers(files, configPlace(place));
}

async function approve(...names: readonly string[]) {
  const place = await placeOf();
  for (const name of names) await approveServer(name, place);
}

describe("files that name MCP servers", () => {
  verifies(["E6"], "of Claude Code, Cursor, VS Code, Codex and Oxbow are read as they are, once approved", async () => {
    const home = join(bed.base, "home");
    mkdirSync(home, { recursive: true });
    const shared = (from: string) => ({ command: from });
    const projects = {
      [bed.folder]: { mcpServers: { local: shared("claude-local"), same: shared("local") } },
      "/elsewhere": { mcpServers: { other: shared("x") } },
    };
    bed.put(
      join(home, ".claude.json"),
      JSON.stringify({ mcpServers: { claude: shared("claude"), same: shared("user") }, projects }),
    );
    bed.put(join(home, ".codex/config.toml"), '[mcp_servers.codex]\ncommand = "codex"\n');
    bed.put(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { cursor: shared("cursor") } }));
    bed.put(join(home, "config/config.toml"), '[mcp_servers.own]\ncommand = "own"\n');
    bed.put(
      ".mcp.json",
      `\uFEFF${JSON.stringify({ mcpServers: { mine: shared("project"), same: shared("project") } })}`,
    );
    bed.put(".vscode/mcp.json", '{\n  // for all\n  "servers": { "vs": { "command": "a//b", }, },\n}\n');
    bed.put(".oxbow/config.toml", '[[mcp_servers]]\nname = "listed"\ncmd = "listed"\n');
    expect((await servers()).servers).toEqual([]);
    await approve("claude", "codex", "cursor", "own", "mine", "vs", "local", "same", "listed", "other");
    const { servers: found, hidden } = await servers();
    const named = found.map(({ config }) => [
      config.name,
      config.scope,
      (config.transport as { command: string }).command,
    ]);
    expect(named).toEqual([
      ["claude", "user", "claude"],
      ["codex", "user", "codex"],
      ["cursor", "user", "cursor"],
      ["listed", "project", "listed"],
      ["local", "local", "claude-local"],
      ["mine", "project", "project"],
      ["own", "user", "own"],
      ["same", "local", "local"],
      ["vs", "project", "a//b"],
    ]);
    expect(hidden.map(({ name }) => name)).toEqual(["same", "same"]);
  });

  verifies(["E6", "P11"], "are shown for approval with what they may reach in the network", async () => {
    bed.program("server.sh", "#!/bin/sh\nexit 0\n");
    const entries = {
      own: { command: "./server.sh" },
      off: { command: "ls", network: false },
      other: { command: "ls" },
    };
    bed.put(".mcp.json", JSON.stringify({ mcpServers: entries }));
    const { loaded, variables } = await placeOf();
    const { roots } = loaded;
    const found = await discoverContent({ folder: bed.folder, home: { config: roots.config } });
    const { pending } = await reviewContent(found, openApprovals(bed.folder, { roots, variables }));
    const shown = pending.map((each) => describeWaiting(each, { diffs: true }));
    expect(shown.map(({ name, notes }) => [name, notes]).sort()).toEqual([
      [".mcp.json: mcp_servers.off", ["In a sandbox it runs without network."]],
      [".mcp.json: mcp_servers.other", ["It has the network."]],
      [
        ".mcp.json: mcp_servers.own",
        [expect.stringContaining("without network, because it runs code of the project, which can change")],
      ],
    ]);
  });

  verifies(["E6"], "need a new approval when an entry changes, and verify-ack finds a changed program", async () => {
    const script = bed.program("server.sh", "#!/bin/sh\nexit 0\n");
    bed.put(".mcp.json", JSON.stringify({ mcpServers: { a: { command: "./server.sh" } } }));
    await approve("a");
    expect((await servers()).servers[0]?.pins()).toEqual({ "server.sh": expect.stringMatching(/^[0-9a-f]{64}$/) });
    const place = await placeOf();
    const { roots } = place.loaded;
    const verify = () =>
      verifyAckCommand({
        folder: bed.folder,
        home: { config: roots.config },
        lock: openApprovals(bed.folder, { roots, variables: place.variables }),
      });
    expect(await verify()).toMatchObject({ exitCode: 0 });
    bed.program("server.sh", "#!/bin/sh\nexit 1\n");
    expect(await verify()).toMatchObject({ exitCode: 5, text: expect.stringContaining("server.sh") });
    bed.program(script, "#!/bin/sh\nexit 0\n");
    bed.put(".mcp.json", JSON.stringify({ mcpServers: { a: { command: "./server.sh", args: ["--all"] } } }));
    expect((await servers()).servers).toEqual([]);
  });

  verifies(["E6", "P11"], "may name a file of variables, which is pinned and lies in the project", async () => {
    bed.program("server.sh", "#!/bin/sh\nexit 0\n");
    bed.put(".env", "TOKEN=one\n");
    const entry = { command: "./server.sh", args: ["--import=./server.sh"], envFile: "${workspaceFolder}/.env" };
    bed.put(".cursor/mcp.json", JSON.stringify({ mcpServers: { a: entry } }));
    await approve("a");
    const [found] = (await servers()).servers;
    expect(Object.keys(found?.pins() ?? {})).toEqual(["server.sh", ".env"]);
    const problem = async () => {
      const [now] = (await servers()).servers;
      if (now === undefined) throw new Error("the server is gone");
      const place = pinPlace(bed.folder, { PATH: process.env.PATH });
      return pinProblem(now.config, { ...place, pins: now.pins() });
    };
    expect(await problem()).toBeUndefined();
    bed.put(".env", "TOKEN=one\nNODE_OPTIONS=--require=./other.js\n");
    expect(await problem()).toContain(".env");
    const home = join(bed.base, "home");
    bed.put(join(home, ".aws/credentials"), "KEY=secret\n");
    symlinkSync(join(home, ".aws/credentials"), join(bed.folder, "linked"));
    for (const envFile of [join(home, ".aws/credentials"), "~/.aws/credentials", "linked"]) {
      bed.put(".cursor/mcp.json", JSON.stringify({ mcpServers: { a: { ...entry, envFile } } }));
      await approve("a");
      const { servers: used, problems } = await servers();
      expect([used.length, problems.join("")], envFile).toEqual([0, expect.stringContaining("outside the project")]);
    }
  });

  verifies(
    ["E6", "P11"],
    "need a new approval when a file changes that an argument names, whatever its name is",
    async () => {
      bed.put("serve", "console.log(1)\n");
      bed.put("tool/package.json", '{"main":"start.js"}');
      bed.put("tool/index.js", "1\n");
      bed.put("notes.db", "1\n");
      bed.put("setup.js", "1\n");
      const entry = { command: process.execPath, args: ["serve", "tool", "--db=./notes.db"] };
      bed.put("first.js", "1\n");
      bed.put("app.py", "1\n");
      entry.args.push("app.py:serve");
      const env = { NODE_OPTIONS: "--require=./setup.js", NODE_PATH: "/nowhere:./first.js" };
      bed.put(".mcp.json", JSON.stringify({ mcpServers: { a: { ...entry, env } } }));
      await approve("a");
      const problem = async () => {
        const [now] = (await servers()).servers;
        if (now === undefined) throw new Error("the server is gone");
        return pinProblem(now.config, { ...pinPlace(bed.folder, { PATH: process.env.PATH }), pins: now.pins() });
      };
      expect(await problem()).toBeUndefined();
      // A server writes its database.
      bed.put("notes.db", "2\n");
      expect(await problem()).toBeUndefined();
      for (const file of [
        "serve",
        "tool/package.json",
        "tool/index.js",
        "setup.js",
        "tool/index.mjs",
        "first.js",
        "app.py",
      ]) {
        bed.put(file, "changed\n");
        expect(await problem(), file).toContain(file);
        await approve("a");
        expect(await problem(), file).toBeUndefined();
      }
      const names = Array.from({ length: 70 }, (_, index) => `part${index}`);
      for (const each of names) bed.put(each, "1\n");
      bed.put(".mcp.json", JSON.stringify({ mcpServers: { a: { ...entry, args: names } } }));
      await approve("a");
      expect(await problem()).toContain("more than 64 files");
    },
  );

  verifies(["E6"], "are changed by oxbow mcp: what it adds it removes, and nothing else", async () => {
    const home = join(bed.base, "home");
    const run = (...args: readonly string[]) => oxbow(args, { cwd: bed.folder, env: { OXBOW_HOME: home, HOME: home } });
    const settings = join(home, "config/config.toml");
    const before = 'effort = "low"\n\n[mcp_servers.kept]\ncommand = "a" # why\n\n[mcp_servers.kept.env]\nA = "[x]"\n';
    bed.put(settings, before);
    bed.put(".mcp.json", '{"other": 1, "mcpServers": {}}');
    expect(await run("mcp", "add", "--env", "T=${T:-x}", "own", "--", "node", "[a]")).toMatchObject({ code: 0 });
    expect(await run("mcp", "add", "--scope", "project", "ours", "https://example.com/mcp")).toMatchObject({ code: 0 });
    const listed = JSON.parse((await run("mcp", "list", "--json")).stdout) as { name: string; state: string }[];
    expect(listed.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "kept waiting",
      "own approved",
      "ours approved",
    ]);
    expect(await run("mcp", "remove", "none")).toMatchObject({ code: 2, stderr: expect.stringContaining("Neither") });
    const wrong = await run("mcp", "remove", "--scope", "user", "ours");
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("names no server 'ours'") });
    for (const name of ["own", "ours"]) expect(await run("mcp", "remove", name)).toMatchObject({ code: 0 });
    expect(readFileSync(settings, "utf8")).toBe(before);
    expect(JSON.parse(readFileSync(join(bed.folder, ".mcp.json"), "utf8"))).toEqual({ other: 1, mcpServers: {} });
    bed.put(settings, 'mcp_servers = { inline = { command = "a" } }\n');
    expect(await run("mcp", "remove", "inline")).toMatchObject({ code: 2, stderr: expect.stringContaining("by hand") });
    bed.put(settings, '[mcp_servers.odd]\nargs = [\n  ["mcp_servers.odd"]\n]\n[mcp_servers.b]\ncommand = "b"\n');
    expect((await run("mcp", "remove", "odd")).code).toBeLessThanOrEqual(2);
    expect(readFileSync(settings, "utf8"), "what is left is whole").toContain('command = "b"');
  });

  verifies(["E6"], "are tried by oxbow mcp test, which names the tools that it leaves out", async () => {
    const home = join(bed.base, "home");
    const plan = JSON.stringify({ tools: { fine: {}, torn: { schema: "nope" } } });
    const [command, ...args] = [process.execPath, SERVER, plan];
    bed.put(
      join(home, "config/config.toml"),
      `[mcp_servers.shop]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`,
    );
    await approve("shop");
    const run = (...args: readonly string[]) =>
      oxbowHere(args, { cwd: bed.folder, env: { OXBOW_HOME: home, HOME: home } });
    expect((await run("tools")).stdout).toContain("shop  'oxbow mcp test shop' lists its tools");
    const { stdout } = await run("mcp", "test", "shop");
    expect(stdout).toContain("1 tool: fine\n");
    expect(stdout).toContain("lists the tool 'torn', which is left out: its schema is not an object");
    expect((await run("tools")).stdout).toMatch(/^mcp__shop__fine /m);
    const listed = JSON.parse((await run("tools", "--json")).stdout) as { name: string; server?: string }[];
    expect(listed.filter(({ server }) => server === "shop").map(({ name }) => name)).toEqual(["mcp__shop__fine"]);
  });
});
