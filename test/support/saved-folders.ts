/**
 * Folders that many tests begin with, made once: each test gets a fresh copy. Starting the program again for every test would take most
 * of the time of such tests.
 */
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";

/** The folders keep their paths, because sessions and approvals name them. */
export function savedFolders(
  names: readonly string[],
  prepare: (folders: Readonly<Record<string, string>>) => Promise<void>,
): Readonly<Record<string, string>> {
  const folders: Record<string, string> = {};
  let saved = "";
  beforeAll(async () => {
    saved = await mkdtemp(join(tmpdir(), "oxbow-test-"));
    for (const name of names) folders[name] = await mkdtemp(join(tmpdir(), "oxbow-test-"));
    await prepare(folders);
    for (const [name, folder] of Object.entries(folders)) await copy(folder, join(saved, name));
  });
  beforeEach(async () => {
    for (const [name, folder] of Object.entries(folders)) {
      for (const entry of await readdir(folder)) await rm(join(folder, entry), { recursive: true, force: true });
      await copy(join(saved, name), folder);
    }
  });
  afterAll(async () => {
    for (const folder of [saved, ...Object.values(folders)]) await rm(folder, { recursive: true, force: true });
  });
  return folders;
}

function copy(from: string, to: string): Promise<void> {
  return cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
}
