/**
 * The user's settings for one workspace: path permissions and safe mode. Their paths are relative to the workspace, so one
 * file for all workspaces would apply rules to the wrong one.
 */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { StateFileOptions } from "./state-file.js";

export interface WorkspaceStateFile {
  readonly path: string;
  readonly options: StateFileOptions;
}

/** `root` is free of symbolic links. */
function workspaceFolder(config: string, root: string): string {
  const mark = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const folder = `${
    basename(root)
      .replaceAll(/[^\w.-]/g, "_")
      .slice(0, 40) || "root"
  }-${mark}`;
  return join(config, "workspaces", folder);
}

/** The user's own rules for one workspace, written like those of a profile. */
export function workspaceRules(config: string, root: string): string {
  return join(workspaceFolder(config, root), "permissions.toml");
}

/** The file for all workspaces of an earlier version applies until the workspace has its own. */
export function workspaceStateFile(config: string, root: string, name: string): WorkspaceStateFile {
  return {
    path: join(workspaceFolder(config, root), name),
    options: { workspace: root, fallback: join(config, name) },
  };
}
