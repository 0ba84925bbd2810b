/** A path by its spelling alone, seen from the workspace. */
import { posix } from "node:path";
import type { PathAccess, PathFacts } from "./facts.js";

export function spelledPath(absolute: string, access: PathAccess, workspace: string): PathFacts {
  const way = posix.relative(workspace, absolute);
  const outside = way === ".." || way.startsWith("../");
  return { absolute, display: outside ? absolute : way || ".", access, place: outside ? "outside" : "workspace" };
}
