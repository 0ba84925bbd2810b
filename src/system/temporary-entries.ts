/**
 * What Oxbow puts into the folder for temporary files, all of it under names that tell whose it is:
 *
 *     oxbow-KIND-PID.NAMESPACE-RANDOM
 *
 * 1. Whoever makes an entry removes it. What a process that was killed has left, a later one sweeps away.
 * 2. Only entries of this user are swept, of processes of this process namespace that are not alive any more: elsewhere the same
 *    number is another process.
 */
import { mkdtempSync, readlinkSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TemporaryKind = "pipe" | "net" | "git" | "tmp" | "models";

const NAME = /^oxbow-[a-z]+-(\d+)\.(\d+)-[A-Za-z0-9]+$/;

/** A path to which the caller adds something random, without `-`. */
export function temporaryPrefix(kind: TemporaryKind): string {
  return join(tmpdir(), `oxbow-${kind}-${process.pid}.${processNamespace()}-`);
}

export function makeTemporaryFolder(kind: TemporaryKind): string {
  return mkdtempSync(temporaryPrefix(kind));
}

/** Removes what processes have left that are gone. Never fails: what cannot be removed stays. */
export async function sweepTemporaryEntries(): Promise<void> {
  const folder = tmpdir();
  const user = process.getuid?.();
  for (const name of await readdir(folder).catch(() => [])) {
    const [, pid, namespace] = NAME.exec(name) ?? [];
    if (pid === undefined || Number(namespace) !== processNamespace() || isAlive(Number(pid))) continue;
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.uid !== user && user !== undefined) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

export function isAlive(pid: number): boolean {
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
  if (namespace === undefined) {
    let link = "";
    try {
      link = readlinkSync("/proc/self/ns/pid");
    } catch {
      // Not Linux.
    }
    namespace = Number(/\[(\d+)\]/.exec(link)?.[1] ?? 0);
  }
  return namespace;
}
