/**
 * The files and folders that git settings name: hooks, included files, templates, lists, and whatever a setting runs.
 *
 * 1. A setting counts unless it is known to name nothing that git runs or obeys: each version of git adds settings that name a
 *    program.
 * 2. A word with a slash counts whether or not it exists: it may be made later. A bare word may be a program on PATH; it counts
 *    when a file of that name exists, or when the setting is known to take a file.
 */
import { basename, dirname, resolve } from "node:path";
import { statOf } from "../../system/git/git-folder.js";
import { kindOfSetting, partsOf, type SettingKind } from "../../system/git/harmless-settings.js";
import { HOOKS } from "../../system/git/hook-names.js";
import { includedFile, type LocatedSetting, withHome } from "../../system/git/settings-files.js";
import { realpathSoFar } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";

export interface ConfiguredPlace {
  readonly path: string;
  readonly setting: string;
  /** The place holds more than hooks: only files with the name of a hook count, and only directly in it. */
  readonly only?: "hooks";
}

export interface Surroundings {
  /** The place where git runs what the settings name: the top of the work tree. */
  readonly top: string;
  readonly home: string;
  /** Writable folders. A setting that names one of them, or a folder around one, is too general and guards nothing. */
  readonly roots: readonly string[];
}

const NAMES_NOTHING: ReadonlySet<SettingKind> = new Set(["harmless", "fetching", "placing", "mentioning"]);
const TAKES_FILE = /(file|path|template|templatedir|dir|directory|skiplist|program|list)$/;

export function configuredPlaces(
  settings: readonly LocatedSetting[],
  surroundings: Surroundings,
): readonly ConfiguredPlace[] {
  return settings.flatMap((setting) => {
    const { name, value } = setting;
    if (value === "" || NAMES_NOTHING.has(kindOfSetting(setting))) return [];
    return pathsOf(setting, surroundings).flatMap((path) => placesAt(path, { ...surroundings, name }));
  });
}

/** Finds the place that a path is or lies in. */
export function placeOf(path: string, places: readonly ConfiguredPlace[]): ConfiguredPlace | undefined {
  return places.find((place) =>
    place.only === undefined
      ? isWithin(path, place.path) || isWithin(path.toLowerCase(), place.path.toLowerCase())
      : dirname(path).toLowerCase() === place.path.toLowerCase() && HOOKS.has(basename(path).toLowerCase()),
  );
}

function pathsOf(setting: LocatedSetting, { top, home }: Surroundings): readonly string[] {
  const value = setting.value.trim();
  const included = includedFile(setting, home);
  if (included !== undefined) return [included];
  const { key } = partsOf(setting.name);
  if (key === "hookspath") return [resolve(top, withHome(value, home))];
  if (/^(true|false|yes|no|on|off|[0-9]+[kmg]?)$/i.test(value)) return [];
  const whole = TAKES_FILE.test(key) ? [value] : [];
  const named = wordsOf(value, top).filter((word) => /\//.test(word) || isNoFolder(resolve(top, word)));
  return [...new Set([...whole, ...named])].map((word) => resolve(top, withHome(word, home)));
}

/** The words of a command line, also those behind `=`. Variables usually mean the top of the work tree. */
function wordsOf(value: string, top: string): readonly string[] {
  const plain = value.replace(/^!/, "").replace(/\$\([^)]*\)|`[^`]*`|\$\{?\w+\}?/g, top);
  return plain
    .split(/[\s;&|<>()"']+/)
    .flatMap((word) => (word.includes("=") ? [word, word.slice(word.indexOf("=") + 1)] : [word]))
    .filter((word) => word !== "" && word !== "." && !word.startsWith("-") && !/^[a-z][a-z0-9+.-]*:\/\//i.test(word));
}

function placesAt(
  path: string,
  { name, roots }: { readonly name: string; readonly roots: readonly string[] },
): readonly ConfiguredPlace[] {
  return [...new Set([path, realpathSoFar(path)])].flatMap((each): readonly ConfiguredPlace[] => {
    if (roots.some((root) => isWithin(root, each))) {
      return name.endsWith(".hookspath") ? [{ path: each, setting: name, only: "hooks" }] : [];
    }
    return roots.some((root) => isWithin(each, root)) ? [{ path: each, setting: name }] : [];
  });
}

function isNoFolder(path: string): boolean {
  return statOf(path)?.isDirectory() === false;
}
