/**
 * The files and folders that git settings name: hooks, included files, templates, lists, and whatever a setting runs.
 *
 * 1. Nearly every setting counts. New ones that name a program come with every version of git, so the list here is of those that
 *    are known to name nothing that git runs or obeys.
 * 2. A word with a slash counts whether or not it exists: it may be made later. A bare word may be a program on PATH; it counts
 *    when a file of that name is there, or when the setting is known to take a file.
 */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isWithin } from "../../system/within.js";
import { isInclude, type LocatedSetting, withHome } from "./git-settings.js";

export interface ConfiguredPlace {
  readonly path: string;
  readonly setting: string;
  /** The place holds more than hooks: only files with the name of a hook count, and only directly in it. */
  readonly only?: "hooks";
}

export interface Surroundings {
  /** Where git runs what the settings name: the top of the work tree. */
  readonly top: string;
  readonly home: string;
  /** Settings that would make one of these, or what holds it, a guarded place speak of nothing in particular. */
  readonly roots: readonly string[];
}

/** `section.key`, without the name between them. */
const NAMES_NOTHING: ReadonlySet<string> = new Set([
  ...["safe.directory", "maintenance.repo", "scalar.repo", "gui.recentrepo", "core.worktree", "core.bare"],
  ...[
    "remote.url",
    "remote.pushurl",
    "remote.fetch",
    "remote.push",
    "branch.remote",
    "branch.merge",
    "branch.description",
  ],
  ...["submodule.url", "submodule.path", "submodule.active", "submodule.branch", "url.insteadof", "url.pushinsteadof"],
  ...["user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email", "user.signingkey"],
  ...["init.defaultbranch", "remote.pushdefault", "lfs.url", "lfs.pushurl", "core.excludes"],
]);

const TAKES_FILE = /(file|path|template|templatedir|dir|directory|skiplist|program|list)$/;
const HOOK = new Set(
  (
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase " +
    "post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction " +
    "push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman p4-changelist p4-prepare-changelist " +
    "p4-post-changelist p4-pre-submit post-index-change"
  ).split(" "),
);

export function configuredPlaces(
  settings: readonly LocatedSetting[],
  surroundings: Surroundings,
): readonly ConfiguredPlace[] {
  return settings.flatMap((setting) => {
    const name = `${setting.section}.${setting.key}`;
    if (setting.value === "" || NAMES_NOTHING.has(name)) return [];
    return pathsOf(setting, surroundings).flatMap((path) => placesAt(path, { ...surroundings, name }));
  });
}

/** Whether a path is one of the places or lies in one. */
export function placeOf(path: string, places: readonly ConfiguredPlace[]): ConfiguredPlace | undefined {
  return places.find((place) =>
    place.only === undefined
      ? isWithin(path, place.path) || isWithin(path.toLowerCase(), place.path.toLowerCase())
      : dirname(path).toLowerCase() === place.path.toLowerCase() && HOOK.has(basename(path).toLowerCase()),
  );
}

function pathsOf(setting: LocatedSetting, { top, home }: Surroundings): readonly string[] {
  const value = setting.value.trim();
  if (isInclude(setting))
    return [resolve(setting.origin === "" ? top : dirname(setting.origin), withHome(value, home))];
  if (setting.key === "hookspath") return [resolve(top, withHome(value, home))];
  if (/^(true|false|yes|no|on|off|[0-9]+[kmg]?)$/i.test(value)) return [];
  const whole = TAKES_FILE.test(setting.key) ? [value] : [];
  const named = wordsOf(value, top).filter((word) => /\//.test(word) || isFile(resolve(top, word)));
  return [...new Set([...whole, ...named])].map((word) => resolve(top, withHome(word, home)));
}

/** The words of a command line, also those behind `=`. Variables mostly stand for the top of the work tree. */
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
  return [...new Set([path, realPath(path)])].flatMap((each): readonly ConfiguredPlace[] => {
    if (roots.some((root) => isWithin(root, each))) {
      return name.endsWith(".hookspath") ? [{ path: each, setting: name, only: "hooks" }] : [];
    }
    return roots.some((root) => isWithin(each, root)) ? [{ path: each, setting: name }] : [];
  });
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path).isDirectory() === false;
  } catch {
    return false;
  }
}

/** Without links, as far as it exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}
