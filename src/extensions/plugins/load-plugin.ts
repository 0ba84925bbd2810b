/**
 * Loads the code of a plugin.
 *
 * 1. A file of the user's plugin folder runs from a private copy of the approved bytes.
 * 2. A path or a package that the profile names is the user's own installation. Packages are looked up beside the profile. Code in the
 *    workspace is not loaded, because an agent can write there.
 * 3. TypeScript runs if Node itself strips its types (22.18 or newer). On older versions esbuild translates it, if it is installed
 *    beside the profile or with Oxbow.
 */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ExtensionFile } from "../../base/extension-files.js";
import { isWithin } from "../../system/within.js";
import type { Register } from "./api.js";

export interface PluginPlace {
  /** The folder of the profile. */
  readonly config: string;
  /** The folder of the session. */
  readonly root: string;
  readonly home: string;
  /** For translated TypeScript. */
  readonly cache: string;
}

export interface PluginSource {
  /** The name of the file or the package. */
  readonly name: string;
  /** For messages: the file or the package. */
  readonly from: string;
  /** The path of the code. */
  code(): Promise<string>;
}

const CODE = /\.(js|mjs|ts|mts)$/;

/** Undefined for a file that is not a plugin. */
export function sourceOfFile(file: ExtensionFile): PluginSource | undefined {
  if (!CODE.test(file.name) || /\.d\.m?ts$|\.test\.m?[jt]s$/.test(file.name) || file.name.includes("/"))
    return undefined;
  return { name: nameOf(file.name), from: file.path, code: () => file.program() };
}

/** `./x.mjs`, `~/x.ts`, `/x.js` or the name of a package. */
export function sourceOfEntry(entry: string, place: PluginPlace): PluginSource {
  const isPath = /^[.~/\\]/.test(entry) || isAbsolute(entry);
  if (!isPath)
    return { name: nameOf(entry.replace(/^@[^/]+\//, "")), from: entry, code: () => packageCode(entry, place) };
  const path = resolve(
    place.config,
    entry.replace(/^~(?=[/\\])/, () => place.home),
  );
  return {
    name: nameOf(path),
    from: path,
    code: async () => {
      if (!CODE.test(path)) throw new Error("it is neither JavaScript nor TypeScript");
      return outsideWorkspace(await realpath(path), place);
    },
  };
}

export interface LoadedCode {
  readonly register: Register;
  /** The path of the running code, as in stack traces. */
  readonly path: string;
}

/** Throws if the code cannot be loaded. */
export async function loadCode(
  source: PluginSource,
  place: PluginPlace,
  before: (path: string) => void,
): Promise<LoadedCode> {
  const original = await source.code();
  const needsTranslation = /\.m?ts$/.test(original) && !stripsTypes();
  const path = needsTranslation ? await translate(original, place) : original;
  before(path);
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
    if (typeof module.default !== "function") throw new Error("its default export is not a function");
    return { register: module.default as Register, path };
  } finally {
    if (needsTranslation) await rm(dirname(path), { recursive: true, force: true });
  }
}

async function packageCode(name: string, place: PluginPlace): Promise<string> {
  const { config } = place;
  let path: string;
  try {
    path = createRequire(join(config, "package.json")).resolve(name);
  } catch {
    throw new Error(`the package is not installed: run 'npm install ${name}' in ${config}`);
  }
  return outsideWorkspace(await realpath(path), place);
}

/** Refuses code in the workspace, which an agent may have written; the folder of the profile is the user's. */
async function outsideWorkspace(path: string, { config, root }: PluginPlace): Promise<string> {
  if (isWithin(path, root) && !isWithin(path, await realpath(config))) {
    throw new Error(`it is in the workspace (${path}), whose files an agent can change`);
  }
  return path;
}

function stripsTypes(): boolean {
  return Boolean((process as { readonly features?: { readonly typescript?: unknown } }).features?.typescript);
}

interface Esbuild {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>;
}

async function translate(path: string, { config, cache }: PluginPlace): Promise<string> {
  const esbuild = findEsbuild(config);
  if (esbuild === undefined) {
    throw new Error(
      `TypeScript needs Node 22.18 or newer (this is ${process.versions.node}), or esbuild ('npm install esbuild' in ${config})`,
    );
  }
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(cache, "plugin-"));
  const outfile = join(folder, "plugin.mjs");
  await esbuild.build({
    ...{ entryPoints: [path], outfile, bundle: true, packages: "external" },
    ...{ platform: "node", format: "esm", logLevel: "silent" },
  });
  return outfile;
}

function findEsbuild(config: string): Esbuild | undefined {
  for (const from of [join(config, "package.json"), import.meta.url]) {
    try {
      return createRequire(from)("esbuild") as Esbuild;
    } catch {}
  }
  return undefined;
}

function nameOf(path: string): string {
  const stem = basename(path).replace(/\.(d\.)?[a-z]+$/i, "");
  return (
    stem
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "") || "plugin"
  );
}
