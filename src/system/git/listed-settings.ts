/**
 * The configuration as git itself sees it: every file that it reads, with all includes, in the order of precedence.
 *
 * The git tool asks for this list. It needs git 2.26 or newer, which shows where a setting comes from.
 */
import { resolve } from "node:path";
import { realpathOrSelf } from "../real-path.js";
import { isWithin } from "../within.js";
import type { LocatedSetting } from "./settings-files.js";

export const LIST_SETTINGS: readonly string[] = [
  "config",
  "--list",
  "--includes",
  "--show-scope",
  "--show-origin",
  "--null",
];

export interface ListedSetting extends LocatedSetting {
  /** `user`: from files of the user or the machine. `command`: from the environment or the command line of this git. */
  readonly owner: "repository" | "user" | "command";
}

export class SettingsListError extends Error {}

export interface ListingPlace {
  /** The base of git's file names: the top of the work tree. */
  readonly top: string;
  /** A file of the user in this folder counts as the repository's, because a repository may have supplied it. */
  readonly workspace?: string;
}

export function parseListing(listing: string, { top, workspace }: ListingPlace): readonly ListedSetting[] {
  const fields = listing.split("\0");
  if (fields.pop() !== "" || fields.length % 3 !== 0)
    throw new SettingsListError("git listed its settings in an unknown form.");
  const settings: ListedSetting[] = [];
  for (let index = 0; index < fields.length; index += 3) {
    const [scope = "", origin = "", entry = ""] = fields.slice(index, index + 3);
    const end = entry.indexOf("\n");
    const file = origin.startsWith("file:") ? resolve(top, origin.slice("file:".length)) : undefined;
    settings.push({
      name: end < 0 ? entry : entry.slice(0, end),
      value: end < 0 ? "true" : entry.slice(end + 1),
      file,
      owner: ownerOf(scope, file, workspace),
    });
  }
  return settings;
}

function ownerOf(scope: string, file: string | undefined, workspace: string | undefined): ListedSetting["owner"] {
  if (scope === "command") return "command";
  if (scope !== "system" && scope !== "global") return "repository";
  if (file === undefined || workspace === undefined) return "user";
  return [file, realpathOrSelf(file)].some((path) => isWithin(path, workspace)) ? "repository" : "user";
}
