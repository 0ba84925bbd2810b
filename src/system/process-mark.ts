/**
 * A process as part of a name: `PID.NAMESPACE`. What is named so can be told to be left over once the process is gone. Within
 * another process namespace the same number is another process, so nothing is said of those.
 */
import { readlinkSync } from "node:fs";

let own: string | undefined;

/** Digits and one dot. */
export function processMark(): string {
  own ??= `${process.pid}.${processNamespace()}`;
  return own;
}

export function isGone(mark: string): boolean {
  const [, pid, namespace] = /^(\d+)\.(\d+)$/.exec(mark) ?? [];
  return pid !== undefined && Number(namespace) === processNamespace() && !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

let namespace: number | undefined;

/** 0 where there is only one. */
function processNamespace(): number {
  namespace ??= Number(/\[(\d+)\]/.exec(namespaceLink())?.[1] ?? 0);
  return namespace;
}

function namespaceLink(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // Not Linux.
    return "";
  }
}
