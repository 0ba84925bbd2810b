/**
 * The configuration as git itself sees it: every file that it reads, with all that they include, in the order in which they count.
 *
 * Listing runs nothing. It needs git 2.26 or newer, which tells where a setting comes from.
 */
import { resolve } from "node:path";
import { realpathOrSelf } from "../repository-places.js";
import { isWithin } from "../within.js";
import type { GitSetting } from "./harmless-settings.js";

export const LIST_SETTINGS: readonly string[] = [
  "config",
  "--list",
  "--includes",
  "--show-scope",
  "--show-origin",
  "--null",
];

export interface ListedSetting extends GitSetting {
  /** Undefined when it is from no file. */
  readonly file: string | undefined;
  /** `user`: from files of the person or the machine. `command`: from the environment or the command line of this very git. */
  readonly owner: "repository" | "user" | "command";
}

export class SettingsListError extends Error {}

/** `folder` is where git was run, and `workspace` what a repository may have supplied: a file of the person in it counts as the repository's. */
export function parseListing(
  listing: string,
  { folder, workspace }: { readonly folder: string; readonly workspace: string },
): readonly ListedSetting[] {
  const fields = listing.split("\0");
  if (fields.pop() !== "" || fields.length % 3 !== 0)
    throw new SettingsListError("git listed its settings in an unknown form.");
  const settings: ListedSetting[] = [];
  for (let index = 0; index < fields.length; index += 3) {
    const [scope = "", origin = "", entry = ""] = fields.slice(index, index + 3);
    const end = entry.indexOf("\n");
    const file = origin.startsWith("file:") ? resolve(folder, origin.slice("file:".length)) : undefined;
    settings.push({
      name: end < 0 ? entry : entry.slice(0, end),
      value: end < 0 ? "true" : entry.slice(end + 1),
      file,
      owner: ownerOf(scope, file, workspace),
    });
  }
  return settings;
}

function ownerOf(scope: string, file: string | undefined, workspace: string): ListedSetting["owner"] {
  if (scope === "command") return "command";
  if (scope !== "system" && scope !== "global") return "repository";
  const isSupplied = file !== undefined && [file, realpathOrSelf(file)].some((path) => isWithin(path, workspace));
  return isSupplied ? "repository" : "user";
}
