/**
 * Decides whether deletions lose so much that a person has to agree: more than `MOST_TRACKED` files that git tracks. Pure. The text of a command gives
 * the deletions that it shows; a list of changes that were really made gives all of them.
 *
 * 1. Only files that git tracks count: what a build made is made again. A moved file that stays in the workspace is not a deletion.
 * 2. A deletion of a folder stands for all files below it. So the caller need not list a folder that went as a whole.
 * 3. A path with `*`, `?` or `[` is compared as the shell does if `isGlob` says so; otherwise it is a name.
 */
import { namePattern, type TextPattern } from "../../../base/star-pattern.js";
import type { Decision } from "../facts.js";

const MOST_TRACKED = 20;
/** Named in the reason. */
const MOST_NAMED = 4;

export interface Deletion {
  /** From the workspace, with forward slashes; `.` is the workspace. */
  readonly path: string;
  /** `tree`: with everything below it. */
  readonly extent: "file" | "tree";
  readonly isGlob?: boolean;
  /** Names of files that it is limited to; without it, all. */
  readonly only?: readonly TextPattern[];
}

export interface DeletionVerdict {
  readonly decision: Extract<Decision, "allow" | "ask">;
  /** A sentence that names what goes; empty if nothing that git tracks does. */
  readonly reason: string;
  /** The number of files that git tracks and that go. */
  readonly files: number;
}

/** `tracked`: the paths of git's index or commit, from the workspace, with forward slashes. */
export function judgeDeletions(deletions: readonly Deletion[], tracked: Iterable<string>): DeletionVerdict {
  const matchers = deletions.map((deletion) => ({ path: deletion.path, matches: matcher(deletion), count: 0 }));
  let files = 0;
  for (const path of tracked) {
    const found = matchers.filter(({ matches }) => matches(path));
    for (const each of found) each.count += 1;
    if (found.length > 0) files += 1;
  }
  const named = [...matchers].filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
  const what = listOf([...new Set(named.map(({ path }) => path))]);
  const reason = files === 0 ? "" : `It deletes ${files} ${files === 1 ? "file" : "files"} that git tracks (${what}).`;
  return { decision: files > MOST_TRACKED ? "ask" : "allow", reason, files };
}

function matcher({ path, extent, isGlob, only = [] }: Deletion): (tracked: string) => boolean {
  const isThere = isGlob ? globMatcher(path, extent) : plainMatcher(path, extent);
  if (only.length === 0) return isThere;
  return (tracked) => isThere(tracked) && only.some((shape) => shape.test(tracked.slice(tracked.lastIndexOf("/") + 1)));
}

function plainMatcher(path: string, extent: Deletion["extent"]): (tracked: string) => boolean {
  if (path === "." && extent === "tree") return () => true;
  return (tracked) => tracked === path || (extent === "tree" && tracked.startsWith(`${path}/`));
}

/** A name that begins with a dot needs a glob that does. */
function globMatcher(path: string, extent: Deletion["extent"]): (tracked: string) => boolean {
  const shapes = path.split("/").map((part) => {
    const shape = /[*?[]/.test(part)
      ? namePattern(part.replace(/\[[^\]]*\]/g, "?"))
      : { test: (name: string) => name === part };
    return (name: string) => shape.test(name) && (!name.startsWith(".") || part.startsWith("."));
  });
  return (tracked) => {
    const names = tracked.split("/");
    if (extent === "file" ? names.length !== shapes.length : names.length < shapes.length) return false;
    return shapes.every((test, index) => test(names[index] ?? ""));
  };
}

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
