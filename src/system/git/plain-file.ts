/** Reads small untrusted files. Only regular files, because a pipe would block. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

const MAX_TEXT = 1024 * 1024;
const NOW = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Undefined for a link, for anything but a plain file, and for a larger file. */
export function plainFile(path: string, maxBytes: number): Buffer | "missing" | undefined {
  return read(path, { flags: NOW | (constants.O_NOFOLLOW ?? 0), maxBytes });
}

/** The text of a small file, also behind a link. Empty when there is none. */
export function smallText(path: string): string {
  return textIfReadable(path) ?? "";
}

/** The same, but undefined if the entry is not a small file. */
export function textIfReadable(path: string): string | undefined {
  const bytes = read(path, { flags: NOW, maxBytes: MAX_TEXT });
  return bytes === "missing" ? "" : bytes?.toString("utf8");
}

function read(
  path: string,
  { flags, maxBytes }: { readonly flags: number; readonly maxBytes: number },
): Buffer | "missing" | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, flags);
    const found = fstatSync(descriptor);
    return found.isFile() && found.size <= maxBytes ? readFileSync(descriptor) : undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
