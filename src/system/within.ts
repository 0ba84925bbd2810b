import { isAbsolute, relative, sep } from "node:path";

/** Tells whether `path` is the folder or lies below it, by spelling alone: pass absolute paths without links. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Leaves out those that lie in another one. */
export function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(path, other)));
}

/** The folders on the way to a relative path with forward slashes, the outermost first. */
export function foldersOnWay(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at));
  return folders;
}
