/** Unix sockets in folders whose path is too long for the kernel. */
import { openSync } from "node:fs";
import { basename, join } from "node:path";

/** The kernel's limit is 108 bytes on Linux and 104 on macOS. */
const LONGEST_SOCKET = 100;
const descriptors = new Map<string, number>();

/** A name of the socket that is short enough for the kernel. */
export function reachable(folder: string, socket: string): string {
  const path = join(folder, basename(socket));
  if (Buffer.byteLength(path) <= LONGEST_SOCKET || process.platform !== "linux") return path;
  let descriptor = descriptors.get(folder);
  if (descriptor === undefined) {
    descriptor = openSync(folder, "r");
    descriptors.set(folder, descriptor);
  }
  return `/proc/self/fd/${descriptor}/${basename(socket)}`;
}
