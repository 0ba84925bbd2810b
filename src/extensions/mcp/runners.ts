/**
 * Programs that fetch a server and run it. They read settings of the folder they start in, and prefer programs there, so a folder decides
 * what they run.
 *
 * 1. The user's own servers start them outside the folder: a repository must not run code in a server that has the user's keys.
 * 2. For a server of the project, their settings belong to the files that are pinned.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { McpScope, StdioTransport } from "./server-config.js";

const NPM = [".npmrc"];
const UV = ["uv.toml"];
const BUN = ["bunfig.toml", ...NPM];
/** With the files that change what they run. */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ...{ npx: NPM, npm: NPM, pnpm: [...NPM, ".pnpmfile.cjs"], pnpx: [...NPM, ".pnpmfile.cjs"], corepack: NPM },
    ...{ yarn: [".yarnrc.yml", ".yarnrc", ...NPM], bun: BUN, bunx: BUN, deno: ["deno.json", "deno.jsonc"] },
    ...{
      uv: UV,
      uvx: UV,
      pipx: [],
      python: [],
      python2: [],
      python3: [],
      py: [],
      ruby: [],
      perl: [],
      php: ["php.ini"],
    },
  }),
);

function runnerOf({ command }: Pick<StdioTransport, "command">): readonly string[] | undefined {
  const name = basename(command)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|ps1)$/, "")
    .replace(/(?<=^python\d)\.\d+$/, "");
  return RUNNERS.get(name);
}

/** The settings that exist in the folder and above it, up to `top`. */
export function runnerSettings(transport: StdioTransport, place: { readonly root: string; readonly top: string }) {
  const names = runnerOf(transport) ?? [];
  const found: string[] = [];
  for (let folder = transport.cwd ?? place.root; ; folder = dirname(folder)) {
    found.push(...names.map((name) => join(folder, name)).filter((file) => existsSync(file)));
    if (folder === place.top || folder === dirname(folder)) return found;
  }
}

/** Only the system can put files here. */
const OUTSIDE = "/";

/** Where a server starts, and its arguments for there. */
export function startPlace(
  transport: StdioTransport,
  { scope, root }: { readonly scope: McpScope; readonly root: string },
): Pick<StdioTransport, "args"> & { readonly cwd: string } {
  const { args, cwd } = transport;
  if (cwd !== undefined || scope === "project" || runnerOf(transport) === undefined) return { args, cwd: cwd ?? root };
  // A path that begins with a dot means the folder of the session.
  return { cwd: OUTSIDE, args: args.map((arg) => (/^\.{1,2}(?:\/|$)/.test(arg) ? resolve(root, arg) : arg)) };
}
