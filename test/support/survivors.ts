import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Returns the processes that are alive and have the mark in their command line. */
export function survivors(mark: string): string[] {
  return commandLines().filter((line) => line.includes(mark));
}

function commandLines(): readonly string[] {
  // Linux has a file of each process, and may lack `ps`.
  if (process.platform !== "linux") return execFileSync("ps", ["-Ao", "pid=,args="], { encoding: "utf8" }).split("\n");
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
      } catch {
        return [];
      }
    });
}
