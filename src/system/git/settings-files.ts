/**
 * Reads the settings in git's configuration files without git. It follows every include, whether or not its condition holds now: the
 * branch or the folder in the condition may be the next one.
 */
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readConfigText } from "./config-text.js";
import { mayBeThere } from "./git-folder.js";
import { type GitSetting, partsOf } from "./harmless-settings.js";
import { smallText } from "./plain-file.js";

export interface LocatedSetting extends GitSetting {
  /** Absolute. Undefined if it does not come from a file. */
  readonly file: string | undefined;
}

export interface ListedSetting extends LocatedSetting {
  /** `user`: from files of the user or the machine. `command`: from the environment or the command line of this git. */
  readonly owner: "repository" | "user" | "command";
}

export interface ReadSettings {
  readonly settings: readonly LocatedSetting[];
  /** Every file that was read or would have been. */
  readonly files: readonly string[];
  /** Their state just before they were read. */
  readonly stamp: string;
}

const MAX_FILES = 64;

/** The files and all that they include. */
export function readSettings(files: readonly string[], home: string): ReadSettings {
  const settings: LocatedSetting[] = [];
  const seen = new Map<string, string>();
  const waiting = [...files];
  for (let file = waiting.shift(); file !== undefined && seen.size < MAX_FILES; file = waiting.shift()) {
    if (seen.has(file)) continue;
    seen.set(file, stamp(file));
    for (const { name, value } of readConfigText(smallText(file)).settings) {
      const setting = { name, value, file };
      settings.push(setting);
      const included = includedFile(setting, home);
      if (included !== undefined) waiting.push(included);
    }
  }
  return { settings, files: [...seen.keys()], stamp: [...seen.values()].join("\n") };
}

/** The file that an `include.path` or `includeIf.….path` names. */
export function includedFile({ name, value, file }: LocatedSetting, home: string): string | undefined {
  const { section, key } = partsOf(name);
  const isInclude = (section === "include" || section === "includeif") && key === "path" && value !== "";
  return isInclude ? resolve(file === undefined ? "/" : dirname(file), withHome(value, home)) : undefined;
}

export function withHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

/** Changes whenever one of the files does. */
export function stampOf(files: readonly string[]): string {
  return files.map(stamp).join("\n");
}

function stamp(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${file} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return mayBeThere(file) ? `${file} ?` : `${file} -`;
  }
}
