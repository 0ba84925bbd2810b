/** The program that started this process: its name as it was typed, its file and the file's hash. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, readFileSync, readlinkSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, resolve } from "node:path";
import { promisify } from "node:util";
import { SYSTEM_PATH } from "../base/system-path.js";

export interface ParentProgram {
  readonly argv0: string;
  /** The file of the program. */
  readonly path: string;
  readonly sha256: string;
  /** For an interpreter: the script that it runs. */
  readonly script?: { readonly path: string; readonly sha256: string };
}

const INTERPRETERS = /^(node|nodejs|bun|deno|python[\d.]*|ruby|perl|bash|sh|zsh|dash|java)(\.exe)?$/;

/** Undefined where the system does not say: then no parent can be recognised. */
export async function parentProgram(pid = process.ppid): Promise<ParentProgram | undefined> {
  if (process.platform !== "linux") return programByPs(pid);
  try {
    const path = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "");
    const [argv0 = basename(path), ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    // Through /proc the file is the one that runs, also if another has its name by now.
    const sha256 = await hashOf(`/proc/${pid}/exe`);
    const script = INTERPRETERS.test(basename(path)) ? await scriptOf(pid, args) : undefined;
    return { argv0, path, sha256, ...(script && { script }) };
  } catch {
    return undefined;
  }
}

/** macOS and the BSDs name the file of a process. */
async function programByPs(pid: number): Promise<ParentProgram | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "comm=", "-p", String(pid)], {
      env: { PATH: SYSTEM_PATH },
    });
    const path = await realpath(stdout.trim());
    return { argv0: basename(path), path, sha256: await hashOf(path) };
  } catch {
    return undefined;
  }
}

/** The first argument that is a file. */
async function scriptOf(pid: number, args: readonly string[]): Promise<ParentProgram["script"]> {
  const cwd = readlinkSync(`/proc/${pid}/cwd`);
  for (const arg of args.filter((each) => each !== "" && !each.startsWith("-"))) {
    const path = await realpath(isAbsolute(arg) ? arg : resolve(cwd, arg)).catch(() => undefined);
    if (path !== undefined && (await stat(path)).isFile()) return { path, sha256: await hashOf(path) };
  }
  return undefined;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
