/** The user's settings for decisions. */
import type { SafeModeState } from "../safe-mode/safe-mode.js";
import type { PathFacts } from "./facts.js";
import type { PermissionMode } from "./modes.js";
import type { EditPolicy, PermissionPreset } from "./parse-rules.js";
import type { PathPermissionState } from "./path-permissions.js";
import type { PermissionRule } from "./rule.js";

export interface PermissionPolicy {
  readonly mode: PermissionMode;
  readonly preset: PermissionPreset;
  readonly edits: EditPolicy;
  readonly rules: readonly PermissionRule[];
  /** Absolute, with forward slashes. */
  readonly workspace: string;
  /** Folders beside the workspace that sandboxed commands may change, absolute, with forward slashes. */
  readonly writable?: readonly string[];
  /** Oxbow's own folders, absolute. */
  readonly ownFolders: readonly string[];
  /** Folders in them that the model may read: outputs of its own commands. */
  readonly readable?: readonly string[];
  readonly paths: PathPermissionState;
  readonly safeMode: SafeModeState;
}

/** Tells whether it is one of Oxbow's own files, which the model may not read or change. */
export function isOwn({ absolute, access, own }: PathFacts, { ownFolders, readable = [] }: PermissionPolicy): boolean {
  if (own === true) return true;
  const path = `${absolute.toLowerCase()}/`;
  const isIn = (folder: string) => path.startsWith(`${folder.toLowerCase()}/`);
  return ownFolders.some(isIn) && !(access === "read" && readable.some(isIn));
}
