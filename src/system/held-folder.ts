/**
 * A folder of the workspace, reached from its root without following a link.
 *
 * 1. Every folder on the way is opened by its name in the one before, and must not be a link.
 * 2. On Linux what is done in it goes through its descriptor, so that renaming or linking folders meanwhile cannot redirect
 *    it. Elsewhere the way is checked before and the path used, which leaves a moment in between.
 */
import { closeSync, constants, fsyncSync, lstatSync, openSync, realpathSync } from "node:fs";
import { isAbsolute, join, parse } from "node:path";
import { fsPath, shownPath } from "./path-bytes.js";

const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const HAS_DESCRIPTORS = process.platform === "linux";

/** A folder on the way is not one (any more). */
export class WayBlockedError extends Error {
  override readonly name = "WayBlockedError";
  /** The path of the entry that replaces it. */
  readonly at: string;
  readonly by: "nothing" | "link" | "file";

  constructor(at: string, by: "nothing" | "link" | "file") {
    const shown = shownPath(at);
    super(by === "nothing" ? `the folder ${shown} is gone` : `${shown} is a ${by} now, not a folder`);
    this.at = at;
    this.by = by;
  }
}

export class HeldFolder {
  readonly #fd: number | undefined;
  readonly #through: string;

  private constructor(fd: number | undefined, through: string) {
    this.#fd = fd;
    this.#through = through;
  }

  /** The folder that holds the entry at `path`: relative to `root`, or absolute, with forward slashes. */
  static of(root: string, path: string): HeldFolder {
    const isElsewhere = isAbsolute(path);
    // The place of the root itself may be a link: that is where its owner put it.
    const top = isElsewhere ? parse(path).root : realpathSync(root);
    const names = path.slice(isElsewhere ? top.length : 0).split("/");
    if (names.includes("..") || names.includes("")) throw new Error(`${shownPath(path)} is not a plain path`);
    let held = HeldFolder.#open(top, top);
    for (let depth = 1; depth < names.length; depth++) {
      const above = held;
      try {
        const at = (isElsewhere ? top : "") + names.slice(0, depth).join("/");
        held = HeldFolder.#open(above.at(names[depth - 1] as string), at);
      } finally {
        above.close();
      }
    }
    return held;
  }

  static #open(path: string, at: string): HeldFolder {
    const stat = lstatSync(fsPath(path), { throwIfNoEntry: false });
    if (stat === undefined) throw new WayBlockedError(at, "nothing");
    if (!stat.isDirectory()) throw new WayBlockedError(at, stat.isSymbolicLink() ? "link" : "file");
    if (!HAS_DESCRIPTORS) return new HeldFolder(undefined, path);
    try {
      const fd = openSync(fsPath(path), FLAGS);
      return new HeldFolder(fd, `/proc/self/fd/${fd}`);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ELOOP" || code === "ENOTDIR") throw new WayBlockedError(at, "link");
      throw error;
    }
  }

  /** `name` is a single name. */
  at(name: string): string {
    return join(this.#through, name);
  }

  /** Waits until its names are on the disk. */
  sync(): void {
    if (this.#fd !== undefined) fsyncSync(this.#fd);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }
}

/** Does something with an entry of a held folder. */
export function inFolder<T>(root: string, path: string, action: (at: string, folder: HeldFolder) => T): T {
  const folder = HeldFolder.of(root, path);
  try {
    return action(folder.at(path.slice(path.lastIndexOf("/") + 1)), folder);
  } finally {
    folder.close();
  }
}
