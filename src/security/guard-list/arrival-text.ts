import { relative } from "node:path";
import { safeLine } from "../../base/terminal-text.js";
import { guardedName } from "./guarded-names.js";

const MAX_TOLD = 5;

/** For a person: guarded files that were not there before a command, and what to do. */
export function arrivalText(paths: readonly string[], root: string): string {
  const told = paths.slice(0, MAX_TOLD).map((path) => {
    const way = relative(root, path).replaceAll("\\", "/");
    return `${safeLine(way)} (${guardedName(way) ?? "guarded"})`;
  });
  const more = paths.length > told.length ? ` and ${paths.length - told.length} more` : "";
  return `New since the last command: ${told.join(", ")}${more}. If you did not ask for it, check it before you use other programs in this folder.`;
}
