import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Roots } from "../../system/xdg-paths.js";

export function knowledgePath({ data }: Pick<Roots, "data">): string {
  return join(data, "knowledge.db");
}

/** One look at the disk. */
export function hasKnowledge(roots: Pick<Roots, "data">): boolean {
  return existsSync(knowledgePath(roots));
}
