/** Symbolic links as they are on the disk now. */
import { readdirSync, realpathSync } from "node:fs";
import type { LinkReader } from "./link-problem.js";

/** A larger folder is not listed. */
const MAX_ENTRIES = 10_000;

export const diskLinks: LinkReader = {
  real,
  within(folder) {
    try {
      const entries = readdirSync(folder, { withFileTypes: true }).slice(0, MAX_ENTRIES);
      const links = entries.filter((entry) => entry.isSymbolicLink());
      return links.flatMap(({ name }) => real(`${folder}/${name}`) ?? []);
    } catch {
      return [];
    }
  },
};

/** By the system itself, which follows a link before it goes up from it. */
function real(path: string): string | undefined {
  try {
    return realpathSync.native(path).replaceAll("\\", "/");
  } catch {
    return undefined;
  }
}
