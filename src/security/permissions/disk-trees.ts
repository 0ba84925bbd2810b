/** Folders as they are on the disk now. */
import { closeSync, constants, openSync, readdirSync, readSync, statSync } from "node:fs";
import { diskLinks } from "./disk-links.js";
import type { TreeReader } from "./tree-problem.js";

const MOST_BYTES = 64 * 1024;

export const diskTrees: TreeReader = {
  real: diskLinks.real,
  kind(path) {
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      return stat.isDirectory() ? "folder" : "file";
    } catch {
      return undefined;
    }
  },
  entries(folder) {
    try {
      return readdirSync(folder, { withFileTypes: true }).map((entry) => {
        const kind = entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "folder" : "file";
        return { name: entry.name, kind };
      });
    } catch {
      return [];
    }
  },
  text(path) {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const bytes = Buffer.alloc(MOST_BYTES);
      return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, MOST_BYTES, 0));
    } catch {
      return undefined;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  },
};
