/**
 * Makes a clone ready: dependencies installed, dist built.
 *
 * 1. Nothing goes to stdout: that belongs to the program.
 * 2. When nothing is stale no process starts and no dependency is loaded.
 * 3. One set-up at a time in a clone; a process that waited checks again before it repeats the work.
 * 4. Running needs dist alone, unless package.json names run-time dependencies. Building and testing need node_modules.
 * 5. When a build fails and packages do not load, they are installed once more.
 * 6. A copy without sources (an installed package) is never touched.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { say, ToolError } from "../entry.mjs";
import { builtFrom, describeSources, hasRuntimeDependencies, installMatchesLock, readRecord } from "./freshness.mjs";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** `--types` also writes the declarations: a project that installs this clone by its path (`npm install PATH`) needs them. */
export async function main(args = []) {
  await setUp({ root: ROOT, need: "develop" });
  if (!args.includes("--types") || !existsSync(join(ROOT, "src"))) return;
  const { emitTypes } = await import("../build/emit-types.mjs");
  await emitTypes(ROOT);
}

/** `need` is "run" (the program only), "install" (node_modules only) or "develop" (both). */
export async function setUp({ root, need }) {
  if (!existsSync(join(root, "src")) || findStale(root, need).length === 0) return;
  try {
    const dist = join(root, "dist");
    mkdirSync(dist, { recursive: true });
    const { withLock } = await import("./lock.mjs");
    await withLock({ path: join(dist, ".lock"), work: () => refresh(root, need) });
  } catch (error) {
    if (error.code === "ENOSPC" || error.code === "EDQUOT")
      throw new ToolError(`the disk of ${root} is full. Free some space and run the same command again.`);
    if (!isReadOnly(error)) throw error;
    if (need === "run" && existsSync(join(root, "dist", "bin.js"))) {
      say(
        `${root} cannot be written (${error.code}): running the build that is there, which is older than the sources.`,
      );
      return;
    }
    throw new ToolError(
      `${root} cannot be written (${error.code}), and it has to be set up first. ` +
        "Run the command once as a user who may write there, or copy the folder to a place of your own.",
    );
  }
}

async function refresh(root, need) {
  if (findStale(root, need).includes("install")) {
    const { install } = await import("./install.mjs");
    await install(root);
  }
  if (findStale(root, need).includes("build")) {
    try {
      const { build } = await import("../build/build.mjs");
      await build({ root });
    } catch (error) {
      if (packagesLoad(root)) throw error;
      say("the installed packages do not load; installing them again");
      const { install } = await import("./install.mjs");
      await install(root);
      buildInChild(root);
    }
  }
}

/** Asks another process, because Node remembers which modules it could not find. A package may complain for other reasons. */
function packagesLoad(root) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const script = `
    import { readFileSync } from "node:fs";
    const absent = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_DLOPEN_FAILED"];
    for (const name of ${JSON.stringify(Object.keys(devDependencies))}) {
      const { main, exports } = JSON.parse(readFileSync("node_modules/" + name + "/package.json", "utf8"));
      const loaded = main || exports ? import(name) : undefined;
      await loaded?.catch((error) => {
        if (error instanceof SyntaxError || absent.includes((error.cause ?? error).code)) process.exit(1);
      });
    }
    process.exit(0);`;
  return runScript(root, { script, stdio: "ignore" }) === 0;
}

function buildInChild(root) {
  const place = new URL("../build/build.mjs", import.meta.url).href;
  const script = `import { build } from ${JSON.stringify(place)}; await build({ root: process.cwd() });`;
  if (runScript(root, { script, stdio: ["ignore", 2, 2] }) !== 0)
    throw new ToolError("the build failed, also with new packages. The lines above say why.");
}

function runScript(root, { script, stdio }) {
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, stdio }).status;
}

function findStale(root, need) {
  const build =
    need !== "install" && (!existsSync(join(root, "dist", "bin.js")) || builtFrom(root) !== describeSources(root));
  const dependencies = build || need !== "run" ? !installMatchesLock(root) : !canLoadDependencies(root);
  return [...(dependencies ? ["install"] : []), ...(build ? ["build"] : [])];
}

/** A fresh build was made from the present lock file, so it is enough that an install has finished. */
function canLoadDependencies(root) {
  return !hasRuntimeDependencies(root) || readRecord(root) !== undefined;
}

function isReadOnly(error) {
  return error.code === "EACCES" || error.code === "EROFS" || error.code === "EPERM";
}
