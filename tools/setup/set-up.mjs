/**
 * Makes a clone ready: dependencies installed, dist built.
 *
 * 1. Nothing goes to stdout: that belongs to the program.
 * 2. When nothing is stale no process starts and no dependency is loaded.
 * 3. One set-up at a time in a clone; a process that waited checks again before it repeats the work.
 * 4. Running needs dist alone, unless package.json names run-time dependencies. Building and testing need node_modules.
 * 5. A copy without sources (an installed package) is never touched.
 */

import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { say, ToolError } from "../entry.mjs";
import { builtFrom, describeSources, hasRuntimeDependencies, installMatchesLock } from "./freshness.mjs";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export async function main() {
  await setUp({ root: ROOT, need: "develop" });
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
    const { build } = await import("../build/build.mjs");
    await build({ root });
  }
}

function findStale(root, need) {
  const build =
    need !== "install" && (!existsSync(join(root, "dist", "bin.js")) || builtFrom(root) !== describeSources(root));
  const dependencies = build || need !== "run" ? !installMatchesLock(root) : !canLoadDependencies(root);
  return [...(dependencies ? ["install"] : []), ...(build ? ["build"] : [])];
}

/** A fresh build was made from the present lock file, so it is enough that the folder exists. */
function canLoadDependencies(root) {
  return !hasRuntimeDependencies(root) || existsSync(join(root, "node_modules", ".package-lock.json"));
}

function isReadOnly(error) {
  return error.code === "EACCES" || error.code === "EROFS" || error.code === "EPERM";
}
