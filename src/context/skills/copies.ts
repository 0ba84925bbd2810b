/**
 * Copies of the files of skills in use, for commands. They lie outside of Oxbow's own folders, which commands may not name, and the
 * sandbox shows them read-only. A session deletes its copies at its end.
 */
import { chmod, copyFile, mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";

/** A program that was killed leaves its copies behind. */
const OLD_MS = 7 * 24 * 60 * 60 * 1000;

/** Copies each skill once: a script of it may run, so its files are not replaced while it stays the same. */
export function copier(folder: string) {
  const copies = new Map<string, Promise<string>>();
  return (skill: string, files: ReadonlyMap<string, ExtensionFile>): Promise<string> => {
    const copy = copies.get(skill) ?? copyFiles(join(folder, skill), files);
    copies.set(skill, copy);
    // A later copy may succeed.
    copy.catch(() => copies.delete(skill));
    return copy;
  };
}

async function copyFiles(folder: string, files: ReadonlyMap<string, ExtensionFile>): Promise<string> {
  await sweep(dirname(dirname(folder)));
  await rm(folder, { recursive: true, force: true });
  for (const [path, file] of files) {
    const copy = join(folder, path);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await copyFile(await file.program(), copy);
    await chmod(copy, file.executable ? 0o500 : 0o400);
  }
  return folder;
}

export async function removeCopies(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const changedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - changedAt > OLD_MS) await removeCopies(path);
  }
}
