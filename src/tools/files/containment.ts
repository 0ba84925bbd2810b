/** Checks of paths that need no file system: whether a path is inside, and whether its spelling has another meaning. */
import { isAbsolute, posix, relative, resolve, sep, win32 } from "node:path";
import { MOST_PATH } from "../../system/real-path.js";

/**
 * Tells whether `path` is one of the allowed folders or lies below one, after removing `.`, `..` and doubled separators.
 * Ignores symbolic links: pass only paths without them.
 */
export function isInside(path: unknown, allowed: readonly unknown[]): boolean {
  if (!isPlainPath(path)) return false;
  const target = resolve(path);
  return allowed.some((folder) => isPlainPath(folder) && isBelow(target, resolve(folder)));
}

function isPlainPath(path: unknown): path is string {
  return typeof path === "string" && path !== "" && !path.includes("\0") && isAbsolute(path);
}

function isBelow(target: string, folder: string): boolean {
  const way = relative(folder, target);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Trees made by the kernel: reading them has side effects, reveals other processes, or never ends. */
const KERNEL_TREES = ["/proc", "/dev", "/sys"];

/** Inside a kernel tree, unless the user opened a workspace there (`/dev/shm/scratch`). */
export function isKernelPath(path: string, roots: readonly string[]): boolean {
  return KERNEL_TREES.some(
    (tree) => isInside(path, [tree]) && !roots.some((root) => root !== tree && isInside(root, [tree])),
  );
}

/** The fault in the text of a path, or undefined. */
export function pathTextFault(path: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (path === "") return "the path is empty";
  if (path.length > MOST_PATH) return `the path has more than ${MOST_PATH} characters`;
  if (path.includes("\0")) return "the path contains a NUL character";
  // The undo journal writes bytes that are not UTF-8 as lone surrogates (system/path-bytes.ts), so no other path may hold one.
  if (!path.isWellFormed()) return "the path contains half of a character";
  return platform === "win32" ? windowsFault(path) : undefined;
}

const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³])(\.|$)/i;

/** Windows gives a second meaning to devices, streams, trailing dots and several kinds of prefix: none is a workspace file. */
function windowsFault(path: string): string | undefined {
  if (/^[\\/]{2}/.test(path) || path.startsWith("\\??\\")) return "network and device paths are not allowed";
  if (/^[a-z]:(?![\\/])/i.test(path)) return "a drive letter needs a full path after it";
  for (const part of path.replace(/^[a-z]:/i, "").split(/[\\/]/)) {
    if (part.includes(":")) return "':' is not allowed in a name";
    if (DEVICE_NAME.test(part.trimEnd())) return `${part} is a device name`;
    if (part !== "." && part !== ".." && /[. ]$/.test(part)) return "a name must not end in a dot or a space";
  }
  return undefined;
}

/** With forward slashes on every system. */
export function forwardSlashes(path: string): string {
  return sep === win32.sep ? path.replaceAll(win32.sep, posix.sep) : path;
}
