/** Small secret files: made with their mode from the first byte on, and never replaced by another process. */
import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/** Undefined if it does not exist. A mode that lets others read is corrected. */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  try {
    if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600);
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** `create` keeps an existing file; the result says whether this call made it. */
export async function writePrivateFile(
  path: string,
  text: string,
  { when = "replace", mode = 0o600 }: { readonly when?: "replace" | "create"; readonly mode?: number } = {},
): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    if (when === "replace") await rename(temporary, path);
    else await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(temporary).catch(() => {});
  }
}
