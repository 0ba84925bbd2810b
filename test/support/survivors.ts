import { readdirSync, readFileSync } from "node:fs";

/** Processes that are still alive and carry the mark in their command line. */
export function survivors(mark: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return command.includes(mark) ? [`${pid} ${command}`] : [];
      } catch {
        return [];
      }
    });
}
