import { join } from "node:path";
import type { Roots } from "../../system/xdg-paths.js";

/** The folder of all memories. A session without it loads nothing of memory. */
export function memoryRoot({ data }: Pick<Roots, "data">): string {
  return join(data, "memory");
}
