import { join } from "node:path";
import type { Roots } from "../../system/xdg-paths.js";

/** Where the files of skills in use are copied to, in one folder for each session. */
export function skillFolder({ cache }: Pick<Roots, "cache">): string {
  return join(cache, "skills");
}
