/**
 * Resource limits, set by the first shell of a sandbox and inherited by everything in it. A limit that is already lower stays as
 * it is.
 */
import { release } from "node:os";
import { textAt } from "../../system/names-in.js";
import type { SandboxLimits } from "./policy.js";

/** The unit in which POSIX shells count file sizes. */
const BLOCK_BYTES = 512;
const KIB = 1024;

/** Lines for a POSIX shell. `tasks` is how many processes and threads there are already that count as well. */
export function limitLines(limits: SandboxLimits, { tasks }: { readonly tasks: number }): string[] {
  const lines = ["ulimit -c 0"];
  const add = (flag: string, value: number | undefined, unit = 1) => {
    if (value !== undefined) lines.push(`ulimit -${flag} ${Math.max(1, Math.ceil(value / unit))}`);
  };
  add("f", limits.fileSizeBytes, BLOCK_BYTES);
  // Not the address space: run-times reserve far more of it than they ever use.
  add("d", limits.memoryBytes, KIB);
  add("t", limits.cpuSeconds);
  if (limits.openFiles !== undefined) {
    // The hard limit, up to which a program may raise its own; if that cannot be set, the soft limit.
    lines.push(`{ ulimit -Hn ${limits.openFiles} || ulimit -n ${limits.openFiles}; }`);
  }
  if (limits.processes !== undefined) {
    // The shells do not agree on the letter.
    const count = limits.processes + tasks;
    lines.push(`{ ulimit -u ${count} || ulimit -p ${count}; }`);
  }
  return lines.map((line) => `${line} 2>/dev/null`);
}

/**
 * Processes and threads on this machine that the kernel counts together with those of a sandbox: since 5.14 a user namespace
 * counts for itself.
 */
export function countTasks(kernel: string = release()): number {
  const [major = 0, minor = 0] = kernel.split(".").map(Number);
  if (major > 5 || (major === 5 && minor >= 14)) return 0;
  const running = textAt("/proc/loadavg").split(" ")[3] ?? "";
  return Number(running.split("/")[1]) || 0;
}
