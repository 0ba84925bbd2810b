/** The files of a database on the disk. */
import { rmSync } from "node:fs";
import { chmod, copyFile, mkdir, open, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { StoreError } from "../../base/store-error.js";
import { syncFolder } from "../sync-folder.js";
import { makeTemporaryFolder } from "../temporary-entries.js";
import { firstLine, type Named } from "./native-errors.js";

/** True when the file has nothing in it yet. */
export async function prepareFile({ path, noun }: Named): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const handle = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    if (handle) {
      await handle.close();
      await syncFolder(dirname(path));
    }
    const { size, mode } = await stat(path);
    // Another user's file, or a file system without modes: the next read reports it.
    if ((mode & 0o077) !== 0) await chmod(path, 0o600).catch(() => {});
    return size === 0;
  } catch (cause) {
    throw new StoreError("unavailable", `Oxbow cannot create the ${noun}: ${firstLine(cause)}.`, { cause });
  }
}

/** A folder with a copy of the database and its write-ahead log; undefined if the log is empty. */
export async function copyWithLog({ path, noun }: Named): Promise<string | undefined> {
  const log = await stat(`${path}-wal`).catch(() => undefined);
  if (log === undefined || log.size === 0) return undefined;
  const folder = makeTemporaryFolder("tmp");
  try {
    for (const name of [path, `${path}-wal`]) await copyFile(name, join(folder, basename(name)));
    return folder;
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw new StoreError("unavailable", `Oxbow cannot read the ${noun} ${path}: ${firstLine(cause)}.`, { cause });
  }
}
