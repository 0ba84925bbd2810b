import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { ToolError } from "../entry.mjs";
import { ROOT, setUp } from "../setup/set-up.mjs";

/**
 * Runs the program of this clone, and builds it first if necessary. It runs in this process, not in a child, so that it has the
 * terminal, the signals and the exit code.
 */
export async function main(args) {
  await setUp({ root: ROOT, need: "run" });
  const program = join(ROOT, "dist", "bin.js");
  if (!existsSync(program)) throw new ToolError(`there is no ${program}: run \`npm run build\`.`);
  if (isNpmStart()) tellCommand();
  returnToCallersFolder();
  approveOwnInstructions();
  process.argv = [process.execPath, program, ...args];
  await import(pathToFileURL(program).href);
}

function isNpmStart() {
  const { npm_lifecycle_event: script, npm_package_json: manifest } = process.env;
  return script === "start" && manifest === join(ROOT, "package.json");
}

/** npm adds its own folders to the PATH of scripts; the user's shell does not have those. */
function tellCommand() {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  if (folders.some((folder) => folder !== "" && existsSync(join(folder, "oxbow")))) return;
  process.stderr.write(
    `oxbow: to have the command 'oxbow' in every folder: ln -s ${quoted(join(ROOT, "oxbow"))} ~/.local/bin/oxbow (or any folder on your PATH)\n`,
  );
}

function quoted(path) {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** `npm start` moves to the package's folder first; the workspace is the folder where the user called it. */
function returnToCallersFolder() {
  const { INIT_CWD: caller } = process.env;
  if (!isNpmStart() || !caller) return;
  try {
    process.chdir(caller);
  } catch (error) {
    throw new ToolError(`cannot work in ${caller} (${error.code}).`);
  }
}

/** A user who runs the program of this clone in this clone already trusts all of it: its instructions for agents need no question. */
function approveOwnInstructions() {
  const fromHere = relative(ROOT, process.cwd());
  if (fromHere.startsWith("..") || isAbsolute(fromHere)) return;
  process.env.OXBOW_APPROVED_LOCK ||= join(ROOT, "tools", "start", "approved.lock");
}
