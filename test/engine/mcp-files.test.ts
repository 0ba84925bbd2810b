/** The files of other tools that name MCP servers, as they are found, approved and put in order. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { parseFlags } from "../../src/commands/flags.js";
import { chooseServers } from "../../src/extensions/mcp/choose-servers.js";
import { openApprovals } from "../../src/runtime/content/approvals.js";
import { findExtensions } from "../../src/runtime/content/find-extensions.js";
import { approveServer } from "../../src/runtime/mcp/approve-server.js";
import { configPlace } from "../../src/runtime/mcp/open-server.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { Testbed } from "../../src/security/trust/test-support/testbed.js";
import { verifyAckCommand } from "../../src/security/trust/verify-ack-command.js";
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
});
