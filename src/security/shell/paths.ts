/**
 * Decides whether a command may read a path without asking, by its spelling alone.
 *
 * 1. It is inside the workspace and not a place of secrets. Links are not followed here; a sandbox contains those.
 * 2. After a `cd` that may or may not have worked, a path must be inside from every folder the shell may be in.
 */

import { posix } from "node:path";
import { SENSITIVE_NAMES, sensitiveReason } from "../../base/sensitive-path.js";
import { namePattern } from "../../base/star-pattern.js";
import { HARMLESS_FILES } from "./programs/sensitive-files.js";
import type { Word } from "./syntax.js";
import { globValue, hasGlob } from "./word-values.js";

export const LONGEST_PATH = 4096;

export interface Whereabouts {
  /** Absolute. Without it, every absolute path is outside. */
  readonly workspace: string | undefined;
  /** The folders in which the shell may be, relative to the workspace; empty when it is outside. */
  readonly folders: readonly string[];
  /** A folder that may be read like the workspace: absolute. */
  readonly outputs?: string | undefined;
}

export function whereabouts({
  workspace,
  cwd,
  outputs,
}: {
  workspace?: string | undefined;
  cwd?: string | undefined;
  outputs?: string | undefined;
}): Whereabouts {
  if (workspace === undefined || cwd === undefined) return { workspace, folders: ["."], outputs };
  const folder = posix.relative(workspace, cwd);
  return { workspace, folders: isOutside(folder) ? [] : [folder || "."], outputs };
}

/** The folders after a `cd` to a judged path: the new one, or still the old one. */
export function afterChange(place: Whereabouts, path: string): Whereabouts {
  const there = place.folders.map((folder) => resolveFrom(place, folder, path));
  return { ...place, folders: [...new Set([...place.folders, ...there])] };
}

/** Tells why a word may not be read as a path; undefined when it may. */
export function wordPathProblem(word: Word, place: Whereabouts): string | undefined {
  const value = globValue(word);
  if (value === undefined) {
    const isInHome = word.parts[0]?.type === "tilde";
    return isInHome ? `"${word.text}" is in the home folder` : `"${word.text}" is not known beforehand`;
  }
  if (hasGlob(word) && value.split("/").some(mayFindSecrets)) {
    return `"${word.text}" may find files that hold secrets`;
  }
  return pathProblem(value, place);
}

export function pathProblem(path: string, place: Whereabouts): string | undefined {
  if (path === "-" || HARMLESS_FILES.has(path)) return undefined;
  if (path.length > LONGEST_PATH) return "a path is longer than any file system allows";
  if (place.outputs !== undefined && posix.normalize(path).startsWith(`${place.outputs}/`)) return undefined;
  if (isSensitive(path)) return `"${path}" may hold secrets`;
  const outside =
    place.folders.length === 0 || place.folders.some((folder) => isOutside(resolveFrom(place, folder, path)));
  return outside ? `"${path}" is outside the workspace` : undefined;
}

export function isSensitive(path: string): boolean {
  return path.length <= LONGEST_PATH && sensitiveReason(posix.normalize(path)) !== undefined;
}

/** Tells whether a glob that spells out part of a name finds a name of secrets; `*` and `*.ts` spell out none. */
export function mayFindSecrets(part: string): boolean {
  if (!/[*?[]/.test(part)) return false;
  // Most names of secrets start with a dot, and so may the parent folder.
  if (part.startsWith(".")) return true;
  // Longer than any file system allows, and slow to check.
  if (part.length > 255) return true;
  const glob = part
    .toLowerCase()
    .replace(/\[[^\]]*\]/g, "?")
    .replace(/\*+/g, "*");
  if (glob.replace(/\*\.[a-z0-9]+$|[^a-z]/g, "") === "") return false;
  if (glob.split("*").length > 4) return true;
  const shape = namePattern(glob);
  return SENSITIVE_NAMES.some((name) => shape.test(name));
}

/** Relative to the workspace; starts with `..` or `/` when it is outside. */
function resolveFrom({ workspace }: Whereabouts, folder: string, path: string): string {
  if (!path.startsWith("/")) return posix.join(folder, path);
  return workspace === undefined ? path : posix.relative(workspace, posix.normalize(path));
}

function isOutside(relative: string): boolean {
  return relative === ".." || relative.startsWith("../") || relative.startsWith("/");
}
