import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { readConfig } from "./read-config.js";

const PLACE = {
  root: "/srv/shop",
  home: "/home/ann",
  variables: { TOKEN: "t1", PORT: "80", OXBOW_MCP_INPUT_API_ID: "i1" },
  readFile: (path: string) => (path === "/srv/shop/.env" ? 'A=1\nexport B="two"\n# C=3\n' : undefined),
};

function read(path: string, value: object, { owner = "user", entry = "mcp_servers.x" } = {}) {
  return readConfig({ path, entry, owner: owner as "user" | "project", text: JSON.stringify(value) }, PLACE);
}

function configOf(path: string, value: object, more: { owner?: string; entry?: string } = {}) {
  const found = read(path, value, more);
  if (!("config" in found)) throw new Error(JSON.stringify(found));
  return found.config;
}

describe("entries of MCP servers", () => {
  verifies(["E6"], "of Claude Code expand ${V} and ${V:-x}, and keep what is not set", () => {
    const config = configOf("/srv/shop/.mcp.json", {
      command: "${HOME_BIN:-/opt}/run",
      args: ["--token", "${TOKEN}", "${MISSING}"],
      env: { P: "${PORT}" },
    });
    expect(config.transport).toEqual({
      kind: "stdio",
      command: "/opt/run",
      args: ["--token", "t1", "${MISSING}"],
      env: { P: "80" },
    });
    expect(config.unset).toEqual(["MISSING"]);
    expect(read("/srv/shop/.mcp.json", { url: "https://a.b/mcp" })).toMatchObject({
      problem: 'it has a "url" and no "type"',
    });
    const remote = { type: "http", url: "https://a.b/${PORT}", headers: { X: "Bearer ${TOKEN}" } };
    expect(configOf("/home/ann/.claude.json", remote).transport).toEqual({
      kind: "http",
      url: "https://a.b/80",
      headers: { X: "Bearer t1" },
    });
    const local = { entry: "projects./srv/shop.mcp_servers.a.b" };
    expect(configOf("/home/ann/.claude.json", { command: "a" }, local)).toMatchObject({ name: "a.b", scope: "local" });
  });

  verifies(["E6"], "of Cursor and VS Code know their own variables and files of variables", () => {
    const cursor = {
      command: "run",
      args: ["${workspaceFolder}/a", "${userHome}"],
      env: { T: "${env:TOKEN}" },
      envFile: "${workspaceFolder}/.env",
    };
    expect(configOf("/srv/shop/.cursor/mcp.json", cursor).transport).toMatchObject({
      args: ["/srv/shop/a", "/home/ann"],
      env: { T: "t1", A: "1", B: "two" },
    });
    expect(configOf("/srv/shop/.cursor/mcp.json", { url: "http://a.b/c" }).transport).toMatchObject({ kind: "http" });
    const vscode = { type: "sse", url: "https://a.b", headers: { K: "${input:api-id}" } };
    expect(configOf("/srv/shop/.vscode/mcp.json", vscode).transport).toMatchObject({
      kind: "sse",
      headers: { K: "i1" },
    });
    expect(configOf("/srv/shop/.vscode/mcp.json", { command: "a", args: ["${input:b}"] }).unset).toEqual([
      "OXBOW_MCP_INPUT_B",
    ]);
  });

  verifies(["E6"], "of Codex name variables instead of writing them", () => {
    const path = "/home/ann/.codex/config.toml";
    const config = configOf(path, {
      command: "a",
      env_vars: ["TOKEN", "NONE"],
      enabled_tools: ["x"],
      startup_timeout_sec: 5,
      args: ["${TOKEN}"],
    });
    expect(config).toMatchObject({ enabledTools: ["x"], startTimeoutMs: 5000 });
    expect(config.transport).toMatchObject({ env: { TOKEN: "t1" }, args: ["${TOKEN}"] });
    const remote = {
      url: "https://a.b",
      bearer_token_env_var: "TOKEN",
      http_headers: { A: "b" },
      env_http_headers: { P: "PORT" },
    };
    expect(configOf(path, remote).transport).toMatchObject({
      headers: { A: "b", P: "80", Authorization: "Bearer t1" },
    });
    expect(read(path, { command: "a", enabled: false })).toEqual({ name: "x", off: true });
  });

  verifies(["E6"], "of a project never widen what their server may do", () => {
    const wide = { command: "a", sandbox: "off", writable: ["/etc"], trust_read_only_hints: true, eager_tools: 3 };
    const path = "/srv/shop/.oxbow/config.toml";
    const narrow = { sandbox: "on", writable: [], trustsHints: false, eagerTools: 3, scope: "project" };
    expect(configOf(path, wide, { owner: "project" })).toMatchObject(narrow);
    const own = { sandbox: "off", writable: ["/etc"], trustsHints: true, scope: "user" };
    expect(configOf("/home/ann/config/config.toml", wide)).toMatchObject(own);
  });

  verifies(["E6"], "that cannot be used say why", () => {
    const path = "/srv/shop/.mcp.json";
    const wrong: readonly (readonly [object, string])[] = [
      [{}, '"command"'],
      [{ command: 1 }, '"command" must be text'],
      [{ command: "a", args: "b" }, '"args" must be a list'],
      [{ command: "a", env: { A: {} } }, '"env.A" must be text'],
      [{ type: "http", url: "file:///etc/passwd" }, "not an http address"],
      [{ type: "ws", url: "ws://a" }, "WebSocket"],
      [{ command: "a", sha256: "12" }, "64 hexadecimal digits"],
      [[], "not a table"],
    ];
    for (const [value, problem] of wrong)
      expect(read(path, value)).toMatchObject({ problem: expect.stringContaining(problem) });
  });
});
