/**
 * A limit on the number of processes for root, to whom `ulimit` does not apply: its own control group, if this
 * process may make one. The first process of a sandbox enters it by writing `0`, which means itself, to the file `entry`.
 *
 * In version 1 of control groups a single thread can enter, at no cost. In version 2 a whole process must enter, and the kernel
 * waits some milliseconds for all processors.
 */
import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { namesIn, textAt } from "../../system/names-in.js";
import { isRunning, processNamespace } from "../../system/process-identity.js";

export interface ProcessQuota {
  /** The file a process writes `0` to. */
  readonly entry: string;
  /** Removes the group, which must be empty. */
  close(): void;
}

export interface ProcessQuotaOptions {
  readonly processes: number;
  /** Distinguishes this group from those of other sessions. */
  readonly name: string;
}

const MOUNTED_AT = "/sys/fs/cgroup";

/** Undefined where control groups cannot be made or do not count processes. */
export function openProcessQuota({ processes, name }: ProcessQuotaOptions): ProcessQuota | undefined {
  const namespace = processNamespace();
  for (const parent of candidates()) {
    removeLeftBehind(parent, namespace);
    const group = join(parent, `oxbow-${process.pid}-${namespace}-${name}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    const close = () => remove(group);
    try {
      writeFileSync(join(group, "pids.max"), String(processes));
      const entry = join(group, existsSync(join(group, "tasks")) ? "tasks" : "cgroup.procs");
      accessSync(entry, constants.W_OK);
      return { entry, close };
    } catch {
      close();
    }
  }
  return undefined;
}

/** Groups of processes that were killed. It is unknown whether those of another namespace are alive. */
function removeLeftBehind(parent: string, namespace: string): void {
  for (const name of namesIn(parent)) {
    const [, pid, where] = /^oxbow-(\d+)-([^-]*)-/.exec(name) ?? [];
    if (pid !== undefined && where === namespace && !isRunning(Number(pid))) remove(join(parent, name));
  }
}

function remove(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // A process in it is still exiting. An empty group left behind does no harm.
  }
}

/** Folders in which a new group would count processes: the group of this process where they nest freely, else above it. */
function candidates(): string[] {
  const folders: string[] = [];
  for (const line of textAt("/proc/self/cgroup").split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    if (controllers === "pids") folders.push(join(MOUNTED_AT, "pids", path));
    if (controllers === "" && path !== "/") folders.push(join(MOUNTED_AT, path, ".."));
    if (controllers === "" && path === "/") folders.push(MOUNTED_AT);
  }
  // Where both kinds are mounted, the newer one is elsewhere and this is a plain folder.
  return folders.filter((folder) => existsSync(join(folder, "cgroup.procs")));
}
