/**
 * The folders of a project, as far as PATH can name them. `npm exec` and virtual environments put folders of a project on PATH, also
 * those of the folders above the one that Oxbow works in. A program in them is content of the project, whatever its name is.
 */
import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { realpathOrSelf } from "./real-path.js";
import { isWithin } from "./within.js";

/** Whether the project around this folder can supply the file or folder. */
export function isOfProject(path: string, workspace: string): boolean {
  const [given, real] = [path, realpathOrSelf(path)];
  // A workspace around the system's own folders is no project.
  const spellings = [...new Set([workspace, realpathOrSelf(workspace)])].filter((each) => !isWithin("/usr/bin", each));
  return spellings.some((folder) => {
    const above = foldersAbove(folder);
    const top = above.findLast((each) => isThere(join(each, ".git"))) ?? folder;
    const places = [folder, top, ...above.flatMap(programFolders)];
    return places.some((place) => isWithin(given, place) || isWithin(real, place));
  });
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
