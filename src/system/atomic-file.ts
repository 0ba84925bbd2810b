/**
 * Whole-file replacement.
 *
 * 1. A reader sees the old bytes or the new bytes, never a mixture: the new ones are written beside the file and renamed over it.
 * 2. The old inode is never written to, so another hard link to it keeps its content.
 * 3. The temporary file is made with O_EXCL and O_NOFOLLOW under an unguessable name, and is removed if the write fails.
 */
import { constants, type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export interface AtomicWriteOptions {
  /** Permission bits of the result; default: 0o666 under the process's umask. */
  readonly mode?: number;
  /** Owner of the result, if the system allows it. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** `replace` (default) replaces an existing file; `create` fails with EEXIST if there is one. */
  readonly when?: "replace" | "create";
  /** Also wait until the folder's entry is on the disk: for files that must survive a power cut under their name. */
  readonly flush?: "file" | "file-and-folder";
  /** Gets the name of the temporary file before it is created; the function it returns is called after its removal. */
  readonly note?: (name: string) => Promise<() => Promise<void>>;
}

const NAME_MAX_BYTES = 255;
const ATTEMPTS = 5;

export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const { handle, path: temporary, gone } = await createBeside(path, options.note);
  try {
    try {
      await handle.writeFile(data);
      if (options.owner !== undefined) await keepOwner(handle, options.owner);
      if (options.mode !== undefined) await handle.chmod(options.mode & 0o7777);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await put(temporary, path, options.when ?? "replace");
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  } finally {
    await gone?.();
  }
  if (options.flush === "file-and-folder") await flushFolder(dirname(path));
}

interface TemporaryFile {
  readonly handle: FileHandle;
  readonly path: string;
  readonly gone: (() => Promise<void>) | undefined;
}

async function createBeside(path: string, note: AtomicWriteOptions["note"]): Promise<TemporaryFile> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  for (let attempt = 1; ; attempt++) {
    const name = temporaryName(basename(path));
    const temporary = join(dirname(path), name);
    const gone = await note?.(name);
    try {
      return { handle: await open(temporary, flags, 0o666), path: temporary, gone };
    } catch (error) {
      await gone?.();
      if (!hasCode(error, "EEXIST") || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Begins with the file's own name, so that a leftover of a crash can be recognised; a name at the length limit is shortened. */
function temporaryName(name: string): string {
  const suffix = `.${globalThis.crypto.randomUUID().replaceAll("-", "").slice(0, 12)}.tmp`;
  let stem = `.${name}`;
  while (Buffer.byteLength(stem) + suffix.length > NAME_MAX_BYTES) stem = Array.from(stem).slice(0, -1).join("");
  return stem + suffix;
}

async function put(temporary: string, path: string, when: "replace" | "create"): Promise<void> {
  if (when === "create") {
    // link() refuses an existing name where rename() would replace it; some file systems have no hard links.
    try {
      await link(temporary, path);
      return await unlink(temporary);
    } catch (error) {
      if (hasCode(error, "EEXIST") || (await exists(path))) throw error;
    }
  }
  await rename(temporary, path);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function keepOwner(handle: FileHandle, owner: { uid: number; gid: number }): Promise<void> {
  const now = await handle.stat();
  if (now.uid === owner.uid && now.gid === owner.gid) return;
  // Only the superuser may change the owner; for other users the new file is theirs.
  await handle.chown(owner.uid, owner.gid).catch(() => {});
}

async function flushFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
