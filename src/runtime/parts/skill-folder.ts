import { join } from "node:path";
import type { Roots } from "../../system/xdg-paths.js";

/** The folder for copies of the files of skills in use, one for each session. */
export function skillFolder({ cache }: Pick<Roots, "cache">): string {
  return join(cache, "skills");
}
