/**
 * Finds where symbolic links of guarded names lead in the workspace: `.git/hooks/pre-commit` is often a link to `scripts/pre-commit`, and
 * `.claude/skills` one to `skills`. A program that runs or obeys the link runs or obeys its target.
 *
 * 1. A target counts whether or not it exists: it may be made later.
 * 2. A link to a whole root, or to a folder around one, guards nothing: every file would ask.
 */
import { type Dirent, readdirSync, readlinkSync } from "node:fs";
import { isAbsolute, join, parse, resolve, sep } from "node:path";
import { statOf } from "../../system/git/git-folder.js";
import { isWithin } from "../../system/within.js";

export interface LinkTarget {
  readonly path: string;
  readonly link: string;
}

/** Entries of one guarded folder. */
const MOST_ENTRIES = 500;
/** As the kernel does. */
const MOST_FOLLOWED = 40;

/** The targets in these roots of the links in guarded places that exist. */
export function linkTargets(guarded: readonly string[], roots: readonly string[]): readonly LinkTarget[] {
  return guarded
    .flatMap((place) => [...linksBelow(place)])
    .flatMap((link) => wayOf(link).map((path) => ({ link, path })))
    .filter(({ path }) => roots.some((root) => isWithin(path, root)) && !roots.some((root) => isWithin(root, path)));
}

/** The links that are met on the way from a link to its target, and the target. */
function wayOf(link: string): readonly string[] {
  const met = new Set<string>();
  let followed = 0;
  let at = parse(link).root;
  let rest = namesOf(link.slice(at.length));
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = resolve(at, name);
    const text = linkText(next);
    if (text === undefined) {
      at = next;
      continue;
    }
    // A circle leads nowhere.
    if (++followed > MOST_FOLLOWED) break;
    met.add(next);
    at = isAbsolute(text) ? parse(text).root : at;
    rest = [...namesOf(text), ...rest];
  }
  return [...met, at].filter((path) => path !== link);
}

function namesOf(path: string): string[] {
  return path.split(sep).filter((name) => name !== "");
}

function linkText(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The place itself if it is a link, or the links in it; the nearest first. */
function* linksBelow(place: string): Generator<string> {
  const found = statOf(place);
  if (found?.isSymbolicLink()) yield place;
  const folders = found?.isDirectory() ? [place] : [];
  let left = MOST_ENTRIES;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of entriesOf(folder)) {
      if (--left < 0) return;
      if (entry.isSymbolicLink()) yield join(folder, entry.name);
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
    }
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
