/**
 * All settings of a place, each with its origin. There is no configuration object: each owner takes the values it needs.
 * A new setting goes into the file of its subject; its key is then known in the profile as well.
 */
import { existsSync } from "node:fs";
import { nearest } from "../../base/nearest.js";
import type { Variables } from "../../base/variables.js";
import { compactionSettings } from "../../context/compaction/settings.js";
import { instructionSettings } from "../../context/instructions/settings.js";
import { knowledgeSettings } from "../../context/knowledge-base/settings.js";
import { memorySettings } from "../../context/memory/settings.js";
import { retrievalSettings } from "../../context/retrieval/settings.js";
import { packFolders, skillSettings } from "../../context/skills/settings.js";
import { budgetSettings } from "../../costs/settings.js";
import { hookSettings } from "../../extensions/hooks/settings.js";
import { pluginSettings } from "../../extensions/plugins/settings.js";
import { agentSettings } from "../../extensions/subagents/settings.js";
import type { ParsedFlags } from "../../feature/flags.js";
import {
  type DeclaredSettings,
  type Layer,
  placeOf,
  readSettings,
  SettingReader,
  type SettingsOf,
} from "../../feature/setting.js";
import { modelSettings } from "../../providers/settings.js";
import { credentialSettings } from "../../security/credentials/settings.js";
import { permissionSettings } from "../../security/permissions/settings.js";
import { sandboxSettings } from "../../security/sandbox/settings.js";
import { sessionSettings } from "../../sessions/settings.js";
import { makeHome } from "../../system/home-folder.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import { toolSettings } from "../../tools/settings.js";
import { type ChosenProfile, type ProfileSources, userLayers } from "./choose-profile.js";
import { programSettings, turnSettings } from "./own-settings.js";
import { missingPlugins } from "./plugin-folders.js";

/** Every setting, in the order of the help. */
export const SETTINGS = {
  ...modelSettings,
  ...turnSettings,
  ...toolSettings,
  ...permissionSettings,
  ...sandboxSettings,
  ...instructionSettings,
  ...skillSettings,
  ...compactionSettings,
  ...budgetSettings,
  ...agentSettings,
  ...hookSettings,
  ...pluginSettings,
  ...memorySettings,
  ...knowledgeSettings,
  ...retrievalSettings,
  ...sessionSettings,
  ...credentialSettings,
  ...programSettings,
};

export type Settings = SettingsOf<typeof SETTINGS>;

/** Keys that describe a profile, and keys that other parts read and check. */
const OTHER_KEYS = ["schema_version", "name", "description", "mcp_servers", "mcpServers"];

export interface LoadedSettings {
  readonly settings: Settings;
  readonly roots: Roots;
  /** The profile in use. */
  readonly chosen: ChosenProfile;
  /** The files that the settings are from, the most global first. */
  readonly layers: readonly Layer[];
  /** The user's file that new permission rules go to. */
  readonly profilePath: string;
  readonly warnings: readonly string[];
  /** For other settings of the same run. */
  readonly sources: ProfileSources;
}

/** The user's own settings; those of a project need approval (`project-profiles.ts`). */
export async function loadSettings(flags: ParsedFlags, variables: Variables): Promise<LoadedSettings> {
  const where = roots(variables);
  makeHome(variables);
  const sources = { flags, variables, roots: where };
  const { layers, chosen, profilePath } = await userLayers(sources);
  if (chosen.onlyProject) await (await import("./project-profiles.js")).requireProjectProfile(chosen, sources);
  return resolveSettings({ roots: where, chosen, layers, profilePath, sources });
}

/** Reads each setting from the files. */
export async function resolveSettings(
  place: Pick<LoadedSettings, "roots" | "chosen" | "layers" | "profilePath" | "sources">,
): Promise<LoadedSettings> {
  const { layers, sources } = place;
  const from = new SettingReader({ ...sources, layers });
  const { chosen } = place;
  const read = await readSettings(SETTINGS, from);
  const settings = { ...read, profile: { value: chosen.file ?? chosen.name, origin: chosen.origin } };
  const { skill_packs: packs } = settings;
  const missing = packFolders(packs.value, place.roots.config).filter((folder) => !existsSync(folder));
  const warnings = [
    ...layers.flatMap(unknownKeys),
    ...from.refused,
    ...missingPlugins(settings, { config: place.roots.config, home: sources.variables.HOME }),
    ...missing.map((folder) => `${packs.origin}: there is no skill pack in ${folder}.`),
  ];
  return { ...place, settings, warnings };
}

/** A person talks with the model, so questions have no time limit, unless the user has set one. */
export function patient(loaded: LoadedSettings): LoadedSettings {
  const { permission_timeout: timeout } = loaded.settings;
  if (timeout.origin !== "default") return loaded;
  return { ...loaded, settings: { ...loaded.settings, permission_timeout: { value: undefined, origin: "default" } } };
}

/** Returns a warning for each key that nothing reads. */
function unknownKeys(layer: Layer): readonly string[] {
  const keys = [
    ...OTHER_KEYS,
    ...Object.entries(SETTINGS as DeclaredSettings).flatMap(([key, { about }]) => (about ? [key] : [])),
  ];
  const unknown = Object.keys(layer.profile).filter((key) => !keys.includes(key));
  return unknown.map((key) => {
    const near = nearest(key, keys);
    return `${placeOf(layer, key)}: unknown key "${key}" is ignored.${near === undefined ? "" : ` Did you mean "${near}"?`}`;
  });
}
