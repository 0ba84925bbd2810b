import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

// What the build reads. Tests are not built.
const SOURCES = ["src", "assets", "tools/build", "package.json", "package-lock.json", "tsconfig.json"];
const IGNORED = /\.test\.tsx?$/;
const STAMP = join("dist", ".inputs");
/** npm writes this file into node_modules when it has finished. */
export const RECORD = ".package-lock.json";

/** One line a source file: path, time of change, size. Equal text means an equal build. */
export function describeSources(root) {
  const lines = [];
  for (const name of SOURCES) describe(root, { name, lines });
  return lines.join("\n");
}

function describe(root, { name, lines }) {
  if (IGNORED.test(name)) return;
  const path = join(root, name);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    lines.push(`${name} ${stats.mtimeMs} ${stats.size}`);
    return;
  }
  for (const child of readdirSync(path).sort()) describe(root, { name: `${name}/${child}`, lines });
}

/** The sources of the present dist, or undefined. */
export function builtFrom(root) {
  return readText(join(root, STAMP));
}

export const stampFile = STAMP;

/** Tells whether the dependencies' code is outside dist (`dependencies`) or all bundled in it (`devDependencies`). */
export function hasRuntimeDependencies(root) {
  return runtimeDependencies(root).length > 0;
}

export function runtimeDependencies(root) {
  const { dependencies, optionalDependencies } = readJson(join(root, "package.json"));
  return Object.keys({ ...dependencies, ...optionalDependencies });
}

/**
 * Compares the lock file with npm's record in node_modules, and the record with the packages that are there. Optional packages may be
 * absent: they are the binaries for other platforms.
 */
export function installMatchesLock(root) {
  const recorded = readRecord(root);
  const wanted = readJson(join(root, "package-lock.json")).packages ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const found = recorded?.[path];
    if (found === undefined) return recorded !== undefined && entry.optional === true;
    return found.version === entry.version && existsSync(join(root, path, "package.json"));
  });
}

/** The record, or undefined if there is none or it is cut off. */
export function readRecord(root) {
  try {
    return JSON.parse(readText(join(root, "node_modules", RECORD))).packages;
  } catch {
    return undefined;
  }
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  }
}
