/**
 * Offers every script of the package.json in the working folder as a tool: `npm_test`, `npm_build`. The list follows the file: a script that the
 * model adds can be called in the next iteration.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const MOST_CHARACTERS = 20_000;

/** @param {import("oxbow/plugin").Oxbow} oxbow */
export default function register(oxbow) {
  const folder = typeof oxbow.settings.folder === "string" ? oxbow.settings.folder : process.cwd();

  oxbow.addToolSource({
    name: "npm-scripts",
    list: async () => Object.entries(await scriptsOf(folder)).map(([name, command]) => toolOf(name, command)),
  });

  function toolOf(name, command) {
    return {
      name: `npm_${name.replace(/[^A-Za-z0-9_-]/g, "_")}`,
      description: `Runs the npm script "${name}": ${command}`,
      inputSchema: { type: "object", properties: {} },
      run: (_args, { signal }) => run(["run", "--silent", name], { cwd: folder, signal }),
    };
  }
}

async function scriptsOf(folder) {
  try {
    return JSON.parse(await readFile(join(folder, "package.json"), "utf8")).scripts ?? {};
  } catch {
    return {};
  }
}

function run(args, options) {
  return new Promise((resolve) => {
    execFile("npm", args, options, (error, stdout, stderr) => {
      const text = `${stdout}${stderr}`.slice(-MOST_CHARACTERS);
      const status = error === null ? "ok" : options.signal.aborted ? "cancelled" : "error";
      resolve({ status, content: [{ type: "text", text: text || "(no output)" }] });
    });
  });
}
