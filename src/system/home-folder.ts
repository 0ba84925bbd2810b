/**
 * Oxbow's root folders. If one cannot be created, this fails at once: below `/proc`, Node's recursive mkdir never returns.
 */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";

const USUAL = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

export function makeHome(variables: Variables): void {
  for (const name of variables.OXBOW_HOME ? ["OXBOW_HOME"] : USUAL) {
    const folder = variables[name];
    if (folder) makeNamed(name, folder);
  }
}

/** Says which of these folders cannot be written and what helps; undefined if all can. Creates nothing. */
export function homeProblem(folders: readonly string[]): string | undefined {
  for (const folder of folders) {
    const reason = whyNotWritable(folder);
    if (reason !== undefined)
      return `Oxbow cannot write to its folder ${folder} (${reason}). Set OXBOW_HOME to a folder that you can write to.`;
  }
  return undefined;
}

function whyNotWritable(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return path === dirname(path) ? undefined : whyNotWritable(dirname(path));
    if (!found.isDirectory()) return `${path} is a file`;
    accessSync(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return whyNotWritable(dirname(path));
    return code === "EROFS" ? "the disk is read-only" : code === "EACCES" ? `no permission for ${path}` : message;
  }
}

function makeNamed(name: string, folder: string): void {
  try {
    makeFolders(resolve(folder));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Even if the default folders are not writable, lookups work.
    if (name !== "OXBOW_HOME" && code !== "ENOENT") return;
    throw new UsageError(`${name}: cannot create the folder ${folder}: ${message}.`);
  }
}

function makeFolders(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw new Error(`${path} is a file`);
  makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
