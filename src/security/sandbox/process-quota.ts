/**
 * A bound on the number of processes for the superuser, whom `ulimit` does not bind: a control group of its own, where this
 * process may make one. The shell that starts a sandbox enters it by writing its process id to the file `entry`.
 */
import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface ProcessQuota {
  /** The file a process writes its id to. */
  readonly entry: string;
  /** Removes the group; nobody may be in it any more. */
  close(): void;
}

export interface ProcessQuotaOptions {
  readonly processes: number;
  /** Tells this group from those of other sessions. */
  readonly name: string;
}

const MOUNTED_AT = "/sys/fs/cgroup";

/** Undefined where control groups cannot be made or do not count processes. */
export function openProcessQuota({ processes, name }: ProcessQuotaOptions): ProcessQuota | undefined {
  for (const parent of candidates()) {
    const group = join(parent, `oxbow-${name}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    const close = () => {
      try {
        rmdirSync(group);
      } catch {
        // Somebody is still dying in it. An empty group left behind does no harm.
      }
    };
    try {
      writeFileSync(join(group, "pids.max"), String(processes));
      accessSync(join(group, "cgroup.procs"), constants.W_OK);
      return { entry: join(group, "cgroup.procs"), close };
    } catch {
      close();
    }
  }
  return undefined;
}

/** Folders in which a new group would count processes: the group of this process where they nest freely, else above it. */
function candidates(): string[] {
  const folders: string[] = [];
  for (const line of read("/proc/self/cgroup").split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    if (controllers === "pids") folders.push(join(MOUNTED_AT, "pids", path));
    if (controllers === "" && path !== "/") folders.push(join(MOUNTED_AT, path, ".."));
    if (controllers === "" && path === "/") folders.push(MOUNTED_AT);
  }
  return folders;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
