/** The processes that this one descends from. Known on Linux only. */
import { readFileSync, realpathSync } from "node:fs";
import { basename } from "node:path";

/** A chain of parents is short; a loop cannot be one. */
const MOST_ANCESTORS = 64;

/** Whether a process that this one descends from runs this program, or was started with this text in its environment. */
export function descendsFrom(
  { program, names, mark }: { readonly program: string; readonly names: readonly string[]; readonly mark: string },
  from: number = process.pid,
): boolean {
  const own = realPath(program);
  const isProgram = (word: string) => names.includes(basename(word)) || (word.includes("/") && realPath(word) === own);
  let pid = from;
  for (let looked = 0; looked < MOST_ANCESTORS && pid > 0; looked++) {
    if (contentOf(pid, "environ").includes(mark)) return true;
    if (pid !== from && contentOf(pid, "cmdline").split("\0").slice(0, 2).some(isProgram)) return true;
    // The name is in parentheses and may itself contain spaces and parentheses.
    const [, parent] = contentOf(pid, "stat").split(")").at(-1)?.trim().split(" ") ?? [];
    pid = Number(parent ?? 0);
  }
  return false;
}

/** Empty for a process that is gone, or another user's. */
function contentOf(pid: number, file: "environ" | "cmdline" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
