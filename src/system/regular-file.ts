/** Reads files that a project can supply. Only regular ones: opening a named pipe would wait forever for a writer. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";

const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Follows links. Rejects for a missing file as `readFile` does, and for everything that is no file. */
export async function readRegularFile(path: string): Promise<Buffer> {
  const handle = await open(path, AT_ONCE);
  try {
    refuseOthers(path, await handle.stat());
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

export async function readRegularText(path: string): Promise<string> {
  return (await readRegularFile(path)).toString("utf8");
}

export function readRegularTextSync(path: string): string {
  const descriptor = openSync(path, AT_ONCE);
  try {
    refuseOthers(path, fstatSync(descriptor));
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

function refuseOthers(path: string, found: Stats): void {
  if (found.isFile()) return;
  const kind = found.isDirectory() ? "a folder" : found.isFIFO() ? "a named pipe" : "a special file";
  throw Object.assign(new Error(`${path} is ${kind}, not a file.`), {
    code: found.isDirectory() ? "EISDIR" : "EINVAL",
  });
}
