import { isAbsolute, relative, sep } from "node:path";

/** Tells whether `path` is the folder or lies below it, by spelling alone: pass absolute paths without links. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
