import { open } from "node:fs/promises";

/** Waits until the names in a folder are on the disk. */
export async function syncFolder(path: string): Promise<void> {
  // Windows has no such thing for folders.
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
