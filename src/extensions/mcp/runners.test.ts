import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { runnerSettings, startPlace } from "./runners.js";
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
