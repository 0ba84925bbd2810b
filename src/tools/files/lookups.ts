/** Small file system lookups that may go outside a workspace: programs, and ignore files above it. */
import { access, constants, readFile, realpath, stat } from "node:fs/promises";
import { fsPath } from "../../system/path-bytes.js";

export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The text of a regular file that is not larger than `maxBytes`; otherwise undefined. */
export async function smallText(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    const found = await stat(fsPath(path));
    return found.isFile() && found.size <= maxBytes ? await readFile(fsPath(path), "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** The real path of a program, if it is one. */
export async function executable(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    await access(real, constants.X_OK);
    return (await stat(real)).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** Tells whether a path exists and contains no symbolic links. */
export async function isRealPath(path: string): Promise<boolean> {
  return realpath(path).then(
    (real) => real === path,
    () => false,
  );
}
