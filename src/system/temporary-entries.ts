/**
 * What Oxbow puts into the folder for temporary files, all of it under names that tell whose it is:
 *
 *     oxbow-KIND-PROCESS-RANDOM
 *
 * 1. Whoever makes an entry removes it. What a process that was killed has left, a later one sweeps away.
 * 2. Only entries of this user are swept, of processes that are known to be gone (process-identity.ts).
 */
import { mkdtempSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isGone, processMark } from "./process-identity.js";

export type TemporaryKind = "pipe" | "net" | "git" | "tmp" | "models";

const NAME = /^oxbow-[a-z]+-(\d+\.\d+)-[A-Za-z0-9]+$/;

/** A path to which the caller adds something random, without `-`. */
export function temporaryPrefix(kind: TemporaryKind): string {
  return join(tmpdir(), `oxbow-${kind}-${processMark()}-`);
}

export function makeTemporaryFolder(kind: TemporaryKind): string {
  return mkdtempSync(temporaryPrefix(kind));
}

/** Removes what processes have left that are gone. Never fails: what cannot be removed stays. */
export async function sweepTemporaryEntries(): Promise<void> {
  const folder = tmpdir();
  const user = process.getuid?.();
  for (const name of await readdir(folder).catch(() => [])) {
    const mark = NAME.exec(name)?.[1];
    if (mark === undefined || !isGone(mark)) continue;
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.uid !== user && user !== undefined) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
