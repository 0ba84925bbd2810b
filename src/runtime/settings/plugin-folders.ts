/** The plugins of Claude Code that the user names: `plugin_dirs`, `--plugin-dir`, and folders in `plugins`. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import type { PluginSettings as Settings } from "../../extensions/plugins/settings.js";
import { isPluginFolder } from "../../security/trust/plugin-folder.js";

interface FolderPlace {
  readonly config: string;
  readonly home: string | undefined;
}

export function pluginFolders(
  { plugin_dirs, plugins }: Pick<Settings, "plugin_dirs" | "plugins">,
  place: FolderPlace,
): readonly string[] {
  // A flag names a folder as the shell sees it, a profile as the profile sees it.
  const base = plugin_dirs.origin.startsWith("--") ? process.cwd() : place.config;
  const named = plugin_dirs.value.map((folder) => resolve(base, atHome(folder, place)));
  const listed = plugins.value.filter((entry) => isPluginEntry(entry, place));
  return [...new Set([...named, ...listed.map((entry) => resolve(place.config, atHome(entry, place)))])];
}

/** Files with code for Oxbow that `plugins` names by their path; a package is the user's own installation. */
export function pluginFiles({ plugins }: Pick<Settings, "plugins">, place: FolderPlace): readonly string[] {
  return plugins.value
    .filter((entry) => (/^[.~/\\]/.test(entry) || isAbsolute(entry)) && !isPluginEntry(entry, place))
    .map((entry) => resolve(place.config, atHome(entry, place)));
}

/** Warnings about folders that are not there. */
export function missingPlugins(
  settings: Pick<Settings, "plugin_dirs" | "plugins">,
  place: FolderPlace,
): readonly string[] {
  const { plugin_dirs } = settings;
  if (plugin_dirs.value.length === 0) return [];
  return pluginFolders(settings, place)
    .filter((folder) => !existsSync(folder))
    .map((folder) => `${plugin_dirs.origin}: there is no plugin in ${folder}.`);
}

/** Tells whether an entry of `plugins` is such a folder, and not code for Oxbow. */
export function isPluginEntry(entry: string, place: FolderPlace): boolean {
  return /^[.~/\\]/.test(entry) && isPluginFolder(resolve(place.config, atHome(entry, place)));
}

function atHome(path: string, { home }: FolderPlace): string {
  return path.replace(/^~(?=[/\\])/, () => home ?? homedir());
}
