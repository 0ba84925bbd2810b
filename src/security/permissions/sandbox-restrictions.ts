/**
 * Applies path permissions to a sandboxed command, independent of its text: unreadable paths are hidden, what
 * may not be written is read-only. Mounts cannot express the permissions to execute and delete, an entry with another below it that grants
 * more, or a path that does not exist yet; for these, only the words of the command are checked.
 */
import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { isWithin } from "../../system/within.js";
import { type PathPermissionState, type PlacedEntry, placed } from "./path-permissions.js";

export interface SandboxRestrictions {
  /** Absolute. */
  readonly hidden: readonly string[];
  /** Below the workspace. */
  readonly readOnlyWithin: readonly string[];
}

export function sandboxRestrictions(state: PathPermissionState, workspace: string): SandboxRestrictions {
  const hidden: string[] = [];
  const readOnlyWithin: string[] = [];
  const entries = placed(state, workspace);
  for (const each of entries) {
    const { granted } = each.entry;
    const path = realPath(each.place);
    if (path === undefined || isWithin(workspace, path) || entries.some((other) => liftsWithin(other, each))) continue;
    if (!granted.includes("read")) hidden.push(path);
    else if (!granted.includes("write") && isWithin(path, workspace)) readOnlyWithin.push(relative(workspace, path));
  }
  return { hidden, readOnlyWithin };
}

function liftsWithin(inner: PlacedEntry, outer: PlacedEntry): boolean {
  if (inner === outer || !isWithin(inner.folded, outer.folded)) return false;
  return (["read", "write"] as const).some(
    (access) => inner.entry.granted.includes(access) && !outer.entry.granted.includes(access),
  );
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
