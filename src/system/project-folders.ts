/**
 * The folders of a project, as far as PATH can name them. `npm exec` and virtual environments put folders of a project on PATH, also
 * those of the folders above the one that Oxbow works in. A program in them is content of the project, whatever its name is.
 */
import { lstatSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { realpathOrSelf } from "./real-path.js";
import { isWithin } from "./within.js";

/** Everything in these folders can come from the project around the workspace. */
export function projectFolders(workspace: string): readonly string[] {
  // A workspace around the system's own folders is no project.
  const spellings = [...new Set([workspace, realpathOrSelf(workspace)])].filter((each) => !isWithin("/usr/bin", each));
  const folders = spellings.flatMap((folder) => {
    const above = foldersAbove(folder);
    const top = above.findLast((each) => isThere(join(each, ".git"))) ?? folder;
    return [top, ...above.filter((each) => !isWithin(each, top)).flatMap(programFolders), folder];
  });
  return [...new Set(folders)];
}

/** Of all folders that this process works in. Its own folder can be another one: `--cwd`, sessions of other clients, extra roots. */
const noted = new Map<string, readonly string[]>();

/** No program of this folder or its project is used from now on: models can write there. */
export function noteWorkspace(folder: string): void {
  if (!noted.has(folder)) noted.set(folder, projectFolders(folder));
}

/** The folders of the project around `workspace`, and those of all workspaces of this process. */
export function untrustedFolders(workspace: string): readonly string[] {
  return [...new Set([...projectFolders(workspace), ...[...noted.values()].flat()])];
}

const OTHERS_MAY_WRITE = 0o002;

/** Tells whether every user of this machine can put programs into the folder. */
export function othersMayWrite(folder: string): boolean {
  // Windows has no such bits.
  if (process.platform === "win32") return false;
  try {
    return (statSync(folder).mode & OTHERS_MAY_WRITE) !== 0;
  } catch {
    return true;
  }
}

/** Tells whether the file lies in one of the folders, or is a link to a file there. */
export function liesIn(path: string, folders: readonly string[]): boolean {
  const isIn = (each: string) => folders.some((folder) => isWithin(each, folder));
  return isIn(path) || isIn(realpathOrSelf(path));
}

/** The home folder and the folders around it belong to the user, also as a repository. */
function foldersAbove(folder: string): readonly string[] {
  const homes = [homedir(), realpathOrSelf(homedir())];
  const found: string[] = [];
  for (let each = folder; each !== dirname(each) && !homes.some((home) => isWithin(home, each)); each = dirname(each)) {
    found.push(each);
  }
  return found;
}

/** Of a project without a repository. */
function programFolders(folder: string): readonly string[] {
  const environments = [".venv", "venv"].map((name) => join(folder, name));
  return [join(folder, "node_modules"), ...environments.filter((each) => isThere(join(each, "pyvenv.cfg")))];
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
