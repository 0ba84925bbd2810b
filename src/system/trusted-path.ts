/**
 * The search path of commands that run without asking because their programs only read.
 *
 * 1. The system's `ls` only reads; a file of that name in the workspace may do anything. So the path keeps only folders that the
 *    model cannot write to: absolute, outside the project and the other given folders, also after following links, and not
 *    writable by everyone.
 * 2. A folder outside may hold a link into the workspace (`npm link` makes such). It is dropped for a command that names the link.
 */
import { lstatSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { shellWord } from "../base/shell-word.js";
import { othersMayWrite, untrustedFolders } from "./project-folders.js";
import { isWithin } from "./within.js";

export interface TrustedPathOptions {
  readonly command: string;
  /** Absolute. All of the project around it counts, and so do all other workspaces of this process. */
  readonly workspace: string;
  /** Other absolute folders that the model's tools can write to. */
  readonly writable?: readonly string[];
}

/** Used if no folder is left, for example if the workspace is the whole disk. */
const SYSTEM_PATH = "/usr/bin:/bin";
/** The shell analysis accepts fewer words than this. */
const MOST_WORDS = 2000;

export function trustedPath(path: string, { command, workspace, writable = [] }: TrustedPathOptions): string {
  const places = [
    ...new Set([workspace, ...writable].flatMap((folder) => [folder, real(folder) ?? folder])),
    ...untrustedFolders(workspace),
  ];
  const words = [...new Set(command.match(/[\w.+@[-]+/g) ?? [])].slice(0, MOST_WORDS);
  const isInside = (file: string) => places.some((place) => isWithin(file, place));
  const isTrusted = (folder: string) => {
    if (!isAbsolute(folder) || isInside(folder)) return false;
    const found = real(folder);
    if (found === undefined || isInside(found) || othersMayWrite(found)) return false;
    return !words.some((word) => leadsInside(join(found, word), isInside));
  };
  return path.split(delimiter).filter(isTrusted).join(delimiter) || SYSTEM_PATH;
}

/** The variables of a program that Oxbow itself uses. Such a program may be a script that starts others. */
export function ownVariables<T extends Readonly<Record<string, string | undefined>>>(
  variables: T,
  workspace: string,
): T {
  const { PATH } = variables;
  return PATH === undefined ? variables : { ...variables, PATH: trustedPath(PATH, { command: "", workspace }) };
}

function leadsInside(file: string, isInside: (file: string) => boolean): boolean {
  try {
    if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return false;
    return isInside(realpathSync(file));
  } catch {
    // A link that cannot be followed starts nothing now, and may lead anywhere later.
    return true;
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The command with this path, set only for it. */
export function withPath(command: string, path: string): string {
  return `PATH=${shellWord(path)}; ${command}`;
}
