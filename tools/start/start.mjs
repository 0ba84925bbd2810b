import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { ToolError } from "../entry.mjs";
import { ROOT, setUp } from "../setup/set-up.mjs";

/**
 * Runs the program of this clone, built first if need be. It runs in this process, not in a child: the terminal, the
 * signals and the exit code are then the program's own.
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

/** npm puts folders of its own on the PATH of scripts; a person's shell does not have those. */
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

/** `npm start` moves to the package's folder first; the workspace is where the person called it. */
function returnToCallersFolder() {
  const { INIT_CWD: caller } = process.env;
  if (!isNpmStart() || !caller) return;
  try {
    process.chdir(caller);
  } catch (error) {
    throw new ToolError(`cannot work in ${caller} (${error.code}).`);
  }
}

/** Whoever runs the program of this clone in this clone runs all of it already: its instructions for agents need no question. */
function approveOwnInstructions() {
  const fromHere = relative(ROOT, process.cwd());
  if (fromHere.startsWith("..") || isAbsolute(fromHere)) return;
  process.env.OXBOW_APPROVED_LOCK ||= join(ROOT, "tools", "start", "approved.lock");
}
