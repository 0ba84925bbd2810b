/**
 * Finds a program on PATH as the shell would, but never in a place that the project, the current folder, another workspace of this process
 * or another user could supply.
 */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { SYSTEM_PATH } from "../base/system-path.js";
import { liesIn, othersMayWrite, untrustedFolders } from "./project-folders.js";

export interface FindProgramOptions {
  /** The workspace. Programs of the project around it are skipped, and those of all other workspaces of this process. */
  readonly outside: string;
}

const SUFFIXES = process.platform === "win32" ? [".exe", ".cmd", ""] : [""];

/** The absolute path, or undefined when there is none. */
export function findProgram(
  name: string,
  path: string | undefined,
  { outside }: FindProgramOptions,
): string | undefined {
  const folders = untrustedFolders(outside);
  return programsOn(path, name).find((file) => isTrusted(file, folders));
}

/** The sandbox has empty folders of its own in these places, so a program there is not found in it. */
const REPLACED = ["/tmp", "/dev/shm", "/run/user"];

/** The shell of commands and hooks: bash, else sh. Commands in the sandbox can see it, too. Throws if there is none. */
export function findShell(path: string | undefined, { outside }: FindProgramOptions): string {
  const folders = [...untrustedFolders(outside), ...REPLACED];
  for (const name of ["bash", "sh"]) {
    const found = programsOn([path, SYSTEM_PATH].join(delimiter), name).find((file) => isTrusted(file, folders));
    if (found !== undefined) return found;
  }
  throw new Error("There is no shell on this machine: neither bash nor sh was found.");
}

function isTrusted(file: string, untrusted: readonly string[]): boolean {
  return !liesIn(file, untrusted) && !othersMayWrite(dirname(file));
}

/** The same among all programs, for one of a project that a person approved. */
export function findProjectProgram(name: string, path: string | undefined): string | undefined {
  return programsOn(path, name)[0];
}

function programsOn(path: string | undefined, name: string): readonly string[] {
  const folders = (path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => SUFFIXES.map((suffix) => join(folder, name + suffix))).filter(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** A working folder that was deleted supplies nothing. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/var/empty";
  }
}

/** A program that Oxbow itself uses, those of the system first. */
export function findOwnProgram(name: string, path: string | undefined): string | undefined {
  const outside = currentFolder();
  return findProgram(name, SYSTEM_PATH, { outside }) ?? findProgram(name, path, { outside });
}
