/** Small secret files: made with their mode from the first byte on, and never replaced by another process. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, mkdir, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";

export interface PrivateFile {
  readonly text: string;
  /** False if others could read or replace it: by its mode, its owner, or a link. Its secret may be known then. */
  readonly isPrivate: boolean;
}

const EXPOSED: PrivateFile = { text: "", isPrivate: false };

/** Undefined if it does not exist. */
export async function readPrivateFile(path: string): Promise<PrivateFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    // A link, a socket, or a file of another user.
    if (["ELOOP", "EMLINK", "ENXIO", "EACCES"].includes(code)) return EXPOSED;
    throw error;
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return EXPOSED;
    const isOwn = stats.uid === (process.getuid?.() ?? stats.uid);
    return { text: await handle.readFile("utf8"), isPrivate: isOwn && (stats.mode & 0o077) === 0 };
  } finally {
    await handle.close();
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
