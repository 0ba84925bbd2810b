/** The processes that this one descends from. Known on Linux only. */
import { readFileSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { environmentHolds, readRow } from "./process-table.js";

/** A chain of parents is short; a loop cannot be one. */
const MOST_ANCESTORS = 64;

/** Whether a process that this one descends from runs this program, or was started with this text in its environment. */
export function descendsFrom(
  { program, names, mark }: { readonly program: string; readonly names: readonly string[]; readonly mark: string },
  from: number = process.pid,
): boolean {
  const own = realPath(program);
  if (environmentHolds(from, mark) === true) return true;
  let pid = readRow(from)?.parent ?? 0;
  for (let looked = 0; looked < MOST_ANCESTORS && pid > 0; looked++) {
    if (environmentHolds(pid, mark) === true) return true;
    const words = commandOf(pid).slice(0, 2);
    if (words.some((word) => names.includes(basename(word)) || (word.includes("/") && realPath(word) === own)))
      return true;
    pid = readRow(pid)?.parent ?? 0;
  }
  return false;
}

function commandOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
