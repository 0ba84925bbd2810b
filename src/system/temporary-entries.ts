/**
 * Oxbow's entries in the folder for temporary files. Their names identify the owner:
 *
 *     oxbow-KIND-PROCESS-RANDOM
 *
 * 1. The process that makes an entry removes it. A later process removes the entries of a killed one.
 * 2. It removes only entries of this user, of processes that have certainly ended (process-identity.ts).
 * 3. A file is replaced through a temporary file beside it. An entry of kind `edit` is a link to that one, so that it is found
 *    and removed wherever it is. Only a file with such a name is removed (atomic-file.ts).
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { lstat, readdir, readlink, rm, symlink, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isGone, processMark } from "./process-identity.js";

export type TemporaryKind = "pipe" | "net" | "tmp" | "models" | "edit" | "prompt";

const NAME = /^oxbow-([a-z]+)-(\d+\.\d+)-[A-Za-z0-9]+$/;
const TEMPORARY_FILE = /^\..+\.[0-9a-f]{12}\.tmp$/;

/** A path prefix; the caller appends a random part without `-`. */
export function temporaryPrefix(kind: TemporaryKind): string {
  return join(tmpdir(), `oxbow-${kind}-${processMark()}-`);
}

export function makeTemporaryFolder(kind: TemporaryKind): string {
  return mkdtempSync(temporaryPrefix(kind));
}

/** Records a temporary file in case this process is killed; returns a function that removes the record. */
export async function recordTemporaryFile(path: string): Promise<() => Promise<void>> {
  const note = `${temporaryPrefix("edit")}${randomBytes(6).toString("hex")}`;
  try {
    await symlink(path, note);
  } catch {
    // Without a record the file stays after a kill; the edit itself does not depend on it.
    return async () => {};
  }
  return () => unlink(note).catch(() => {});
}

/** Removes the entries of processes that have ended. Never throws: entries that cannot be removed stay. */
export async function sweepTemporaryEntries(): Promise<void> {
  const folder = tmpdir();
  for (const name of await readdir(folder).catch(() => [])) {
    const [, kind, mark] = NAME.exec(name) ?? [];
    if (mark === undefined || !isGone(mark)) continue;
    const path = join(folder, name);
    if (!(await isOwn(path))) continue;
    if (kind === "edit") await removeNamedFile(path);
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

async function removeNamedFile(note: string): Promise<void> {
  const path = await readlink(note).catch(() => "");
  if (!TEMPORARY_FILE.test(basename(path)) || !(await isOwn(path))) return;
  await unlink(path).catch(() => {});
}

async function isOwn(path: string): Promise<boolean> {
  const user = process.getuid?.();
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && (user === undefined || found.uid === user);
}
