/** Finds a program on PATH as the shell would, but never in a place that the workspace or the current folder could supply. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { realpathOrSelf } from "./real-path.js";
import { isWithin } from "./within.js";

export interface FindProgramOptions {
  /** A folder whose content is not trusted: programs in it are skipped. */
  readonly outside?: string;
}

const SUFFIXES = process.platform === "win32" ? [".exe", ".cmd", ""] : [""];

/** The absolute path, or undefined when there is none. */
export function findProgram(
  name: string,
  path: string | undefined,
  { outside }: FindProgramOptions = {},
): string | undefined {
  for (const folder of (path ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    for (const suffix of SUFFIXES) {
      const file = join(folder, name + suffix);
      if (isExecutable(file) && (outside === undefined || !isSupplied(file, outside))) return file;
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isSupplied(file: string, folder: string): boolean {
  const folders = [folder, realpathOrSelf(folder)];
  return [file, realpathOrSelf(file)].some((path) => folders.some((place) => isWithin(path, place)));
}
