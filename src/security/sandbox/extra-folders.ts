/** The folders of the settings that a session may change besides its workspace. */
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import type { Variables } from "../../base/variables.js";
import type { Setting } from "../../feature/setting.js";

type Folders = Setting<readonly string[]>;

/** Folders that tools and commands use like the workspace, without links. A folder that does not exist is left out. */
export function extraRoots(
  { settings }: { readonly settings: { readonly extra_roots: Folders } },
  variables: Variables,
): readonly string[] {
  return settings.extra_roots.value.flatMap((folder) => realFolder(fromHome(folder, variables)) ?? []);
}

/** All folders that sandboxed commands may change, without the repository, which contains no programs to start. */
export function writableFolders(
  loaded: { readonly settings: { readonly extra_roots: Folders; readonly sandbox_writable: Folders } },
  variables: Variables,
): readonly string[] {
  const named = loaded.settings.sandbox_writable.value.filter((folder) => folder !== "git");
  return [...named.map((folder) => fromHome(folder, variables)), ...extraRoots(loaded, variables)];
}

export function fromHome(folder: string, variables: Variables): string {
  return folder.replace(/^~(?=\/)/, () => variables.HOME || homedir());
}

function realFolder(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
