/** The processes that this one descends from. Known on Linux only. */
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

export interface Ancestor {
  readonly pid: number;
  /** The variables that it was started with, each as `NAME=VALUE`. Empty for another user's process. */
  readonly variables: readonly string[];
  /** The words of its command line. */
  readonly words: readonly string[];
  /** Node, and not a shell or another program that has this one's name among its words. */
  readonly isNode: boolean;
}

/** A chain of parents is short; a loop cannot be one. */
const MOST_ANCESTORS = 64;

/** The process itself first, then its parent, and so on. */
export function* ancestors(from: number = process.pid): Iterable<Ancestor> {
  let pid = from;
  for (let looked = 0; looked < MOST_ANCESTORS && pid > 0; looked++) {
    yield ancestor(pid);
    // The name is in parentheses and may itself contain spaces and parentheses.
    const [, parent] = contentOf(pid, "stat").split(")").at(-1)?.trim().split(" ") ?? [];
    pid = Number(parent ?? 0);
  }
}

/** Reads only what is asked for: a start waits for it. */
function ancestor(pid: number): Ancestor {
  return {
    pid,
    get variables() {
      return contentOf(pid, "environ").split("\0");
    },
    get words() {
      return contentOf(pid, "cmdline").split("\0").slice(0, -1);
    },
    get isNode() {
      const program = programOf(pid);
      return /^node/.test(basename(program)) || program === process.execPath;
    },
  };
}

/** Empty for a process that is gone, or another user's. */
function contentOf(pid: number, file: "environ" | "cmdline" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return "";
  }
}
