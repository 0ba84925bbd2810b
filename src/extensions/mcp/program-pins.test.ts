import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { findPins } from "./program-pins.js";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-pins-")));
  mkdirSync(join(root, "bin"));
  for (const name of ["node", "sqlite-server"]) writeFileSync(join(root, "bin", name), "#!/bin/sh\n", { mode: 0o755 });
  for (const name of ["data.db", "run.log", "hook.log", "main.js"]) writeFileSync(join(root, name), "");
});
afterEach(() => rmSync(root, { recursive: true }));

async function pinned(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const transport = { kind: "stdio", command, args, env, cwd: undefined, envFile: undefined } as never;
  const pins = await findPins(transport, { root, base: root, path: join(root, "bin") });
  return Object.keys(pins)
    .map((file) => basename(file))
    .filter((name) => name !== command)
    .sort();
}

verifies(["E6"], "a file that a server writes may change", async () => {
  expect(await pinned("sqlite-server", ["--db", "data.db"])).toEqual([]);
  expect(await pinned("sqlite-server", ["data.db"])).toEqual([]);
  expect(await pinned("node", ["main.js", "data.db"], { DB_FILE: "data.db" })).toEqual(["main.js"]);
});

it("a script and what loads code are pinned, whatever their names are", async () => {
  expect(await pinned("node", ["run.log"])).toEqual(["run.log"]);
  expect(await pinned("node", ["--require", "./hook.log", "run.log", "data.db"])).toEqual(["hook.log", "run.log"]);
  expect(await pinned("node", ["--import=./hook.log", "main.js"])).toEqual(["hook.log", "main.js"]);
  expect(await pinned("node", ["main.js"], { NODE_OPTIONS: "--require ./hook.log" })).toEqual(["hook.log", "main.js"]);
});
