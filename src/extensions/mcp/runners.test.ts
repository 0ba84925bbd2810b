import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { isDecidedByFolder, runnerSettings, startPlace } from "./runners.js";
import type { StdioTransport } from "./server-config.js";

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "mcp-runners-"));
});
afterEach(() => rmSync(top, { recursive: true }));

const started = (
  command: string,
  args: readonly string[] = [],
  more: Partial<StdioTransport> = {},
): StdioTransport => ({
  ...{ kind: "stdio", command, args, env: {} },
  ...more,
});

verifies(["E6", "P11"], "a repository does not decide what the user's own npx, uvx or python runs", () => {
  const user = { scope: "user", root: "/srv/shop" } as const;
  for (const command of ["npx", "/usr/bin/npx", "npx.cmd", "pnpm", "bunx", "uvx", "pipx", "python3", "python3.12"])
    expect(startPlace(started(command), user).cwd, command).toBe("/");
  expect(startPlace(started("npx", ["-y", "fs", ".", "./a", "..", ".x", "a/b"]), user).args).toEqual([
    ...["-y", "fs", "/srv/shop", "/srv/shop/a", "/srv", ".x", "a/b"],
  ]);
  for (const command of ["node", "docker", "./server.sh"])
    expect(startPlace(started(command), user).cwd).toBe("/srv/shop");
  expect(startPlace(started("npx", [], { cwd: "/srv/other" }), user).cwd, "the user says where").toBe("/srv/other");
  expect(startPlace(started("npx", ["."]), { scope: "project", root: "/srv/shop" })).toEqual({
    cwd: "/srv/shop",
    args: ["."],
  });
});

verifies(["E6", "P11"], "the settings of a runner in a project are among the files that are pinned", () => {
  const root = join(top, "a", "b");
  mkdirSync(root, { recursive: true });
  for (const file of [join(top, ".npmrc"), join(root, ".npmrc"), join(root, "uv.toml")]) writeFileSync(file, "x");
  const place = { root, top };
  expect(runnerSettings(started("npx"), place)).toEqual([join(root, ".npmrc"), join(top, ".npmrc")]);
  expect(runnerSettings(started("uvx"), place)).toEqual([join(root, "uv.toml")]);
  expect(runnerSettings(started("node"), place)).toEqual([]);
  expect(runnerSettings(started("npx"), { root: "/", top })).toEqual([]);
});

verifies(
  ["E6", "P11"],
  "code of the project decides about a server unless a registry or the machine has all of it",
  () => {
    const root = join(top, "app");
    mkdirSync(join(root, "data"), { recursive: true });
    const decides = (command: string, ...args: string[]) =>
      isDecidedByFolder(started(command, args), { program: `/usr/bin/${command}`, root, top });
    const fetched = [
      ["npx", "-y", "@scope/server@1.2.3", "./data"],
      ["npx", "server"],
      ["uvx", "--from", "git-server", "serve", "."],
      ["pnpm", "dlx", "server"],
      ["github-server", "stdio", "--log=info"],
    ] as const;
    for (const [command, ...args] of fetched) expect([command, args, decides(command, ...args)]).toContain(false);
    const own = [
      ["node", "."],
      ["node", "server"],
      ["python3", "-m", "server"],
      ["bash", "-c", "curl example.com"],
      ["npx", "./server"],
      ["npx", "-p", "file:.", "server"],
      ["npx", "--package=./server", "server"],
      ["npx", "-c", "node ."],
      ["npm", "run", "server"],
      ["uv", "run", "server"],
      ["uvx", "--with-editable", ".", "server"],
      ["indexer", "data"],
      ["indexer", "--plugins=./later"],
    ] as const;
    for (const [command, ...args] of own) expect([command, args, decides(command, ...args)]).toContain(true);
    for (const [command, ...args] of [
      ["npx", "-y", "tsx", "server"],
      ["npx", "-y", "tsx@4", "server"],
      ["npx", "-y", "some-runner", "run", "src/server.ts"],
      ["uvx", "some-runner", "run", "server.py:app"],
      ["uvx", "python", "-m", "server"],
    ] as const)
      expect([command, args, decides(command, ...args)]).toContain(true);
    const withVariable = (name: string, value: string) => {
      const transport = { ...started("npx", ["-y", "server"]), env: { [name]: value } };
      return isDecidedByFolder(transport, { program: "/usr/bin/npx", root, top });
    };
    for (const [name, value] of [
      ["NODE_OPTIONS", "--import ./setup.mjs"],
      ["NODE_OPTIONS", "--require=./setup.js"],
      ["LD_PRELOAD", "/lib/a.so:./b.so"],
      ["PYTHONPATH", join(root, "lib")],
      ["PATH", "./bin:/usr/bin"],
      ["npm_config_userconfig", "./npmrc"],
    ] as const)
      expect([name, value, withVariable(name, value)]).toContain(true);
    for (const [name, value] of [
      ["NODE_ENV", "production"],
      ["DATA", "./data"],
      ["PATH", "/usr/bin:/bin"],
      ["NODE_EXTRA_CA_CERTS", "./ca.pem"],
      ["GOOGLE_KEY", "./key.json"],
      ["UV_INDEX", "https://example.com/a"],
    ] as const)
      expect([name, value, withVariable(name, value)]).toContain(false);
    expect(isDecidedByFolder(started("./serve"), { program: join(root, "serve"), root, top })).toBe(true);
    mkdirSync(join(top, "node_modules", "@scope", "server"), { recursive: true });
    expect(decides("npx", "-y", "@scope/server@1.2.3")).toBe(true);
    expect(decides("uvx", "server")).toBe(false);
  },
);
