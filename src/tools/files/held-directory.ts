/**
 * Opens files and folders exactly at the place that was checked.
 *
 * 1. Nothing here follows a symbolic link in the last part of a path.
 * 2. After the open, the place is compared with the requested one. On Linux the kernel names the place of an open file
 *    (`/proc/self/fd`), and work inside a held directory goes through its descriptor, so that renaming or linking folders meanwhile
 *    cannot redirect it. Elsewhere identity and real path are compared, which leaves a short race between check and use.
 */
import { constants, type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { fsPath, linkTarget } from "../../system/path-bytes.js";
import { WorkspaceError } from "./workspace-error.js";

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** A fifo without a writer or a modem line must not block us; a terminal must not become ours. */
const NO_WAIT = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const DESCRIPTORS = "/proc/self/fd";

let kernelNames: Promise<boolean> | undefined;

function kernelNamesOpenFiles(): Promise<boolean> {
  kernelNames ??= realpath(DESCRIPTORS).then(
    () => process.platform === "linux",
    () => false,
  );
  return kernelNames;
}

/** Opens a regular file for reading. It must be at `real`, a path without links; `shown` is for errors. */
export async function openRegularFile(path: string, shown: string, real = path): Promise<FileHandle> {
  // Opening a device can already have an effect, so check before.
  refuseUnlessFile(await lstat(fsPath(path)), shown);
  const handle = await open(fsPath(path), constants.O_RDONLY | NO_FOLLOW | NO_WAIT);
  try {
    refuseUnlessFile(await handle.stat(), shown);
    await confirmPlace(handle, real, shown);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function refuseUnlessFile(stat: Kind, shown: string): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw new WorkspaceError("not_a_file", `${shown} is a folder. Use ls to see what is in it.`);
  throw new WorkspaceError("not_a_file", `${shown} is not a regular file (a ${specialKind(stat)}).`);
}

interface Kind {
  isFile(): boolean;
  isDirectory(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  isSymbolicLink(): boolean;
}

function specialKind(stat: Kind): string {
  if (stat.isFIFO()) return "named pipe";
  if (stat.isSocket()) return "socket";
  return stat.isSymbolicLink() ? "symbolic link" : "device";
}

async function confirmPlace(handle: FileHandle, real: string, shown: string): Promise<void> {
  if (await kernelNamesOpenFiles()) {
    if (linkTarget(`${DESCRIPTORS}/${handle.fd}`) === real) return;
  } else {
    await confirmPath(real, shown);
    const [named, opened] = await Promise.all([lstat(fsPath(real)), handle.stat()]);
    if (named.ino === opened.ino && named.dev === opened.dev) return;
  }
  throw moved(shown);
}

async function confirmPath(real: string, shown: string): Promise<string> {
  if ((await realpath(fsPath(real))) !== real) throw moved(shown);
  return real;
}

function moved(shown: string): WorkspaceError {
  return new WorkspaceError("outside", `${shown} was moved or replaced while it was opened. Try again.`);
}

/** A directory kept open. `at(name)` is a path to one of its entries that no renaming elsewhere can redirect. */
export class HeldDirectory {
  readonly #handle: FileHandle | undefined;
  readonly #through: string;
  readonly #place: { readonly real: string; readonly shown: string };

  private constructor(
    handle: FileHandle | undefined,
    through: string,
    place: { readonly real: string; readonly shown: string },
  ) {
    this.#handle = handle;
    this.#through = through;
    this.#place = place;
  }

  static async open(real: string, shown: string): Promise<HeldDirectory> {
    return HeldDirectory.#hold(real, real, shown);
  }

  static async #hold(path: string, real: string, shown: string): Promise<HeldDirectory> {
    // Windows has no descriptors for directories, so the path has to serve.
    if (process.platform === "win32")
      return new HeldDirectory(undefined, await confirmPath(real, shown), { real, shown });
    const handle = await open(fsPath(path), constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | NO_FOLLOW | NO_WAIT);
    try {
      await confirmPlace(handle, real, shown);
      const through = (await kernelNamesOpenFiles()) ? `${DESCRIPTORS}/${handle.fd}` : real;
      return new HeldDirectory(handle, through, { real, shown });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Throws if the directory is no longer where it was opened: a rename may have moved it to a place with other rules. */
  async confirm(): Promise<void> {
    const { real, shown } = this.#place;
    if (this.#handle === undefined) await confirmPath(real, shown);
    else await confirmPlace(this.#handle, real, shown);
  }

  /** The directory itself, for reading its entries. */
  get path(): string {
    return `${this.#through}/.`;
  }

  /** `name` must be a single name, not a path. */
  at(name: string): string {
    return join(this.#through, name);
  }

  /** A directory below, which must be at `real`. */
  async descend(name: string, real: string, shown: string): Promise<HeldDirectory> {
    return HeldDirectory.#hold(this.at(name), real, shown);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}
