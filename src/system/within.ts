import { isAbsolute, relative, sep } from "node:path";

/** Whether `path` is the folder or lies below it, by spelling alone: give it absolute paths that are free of links. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
