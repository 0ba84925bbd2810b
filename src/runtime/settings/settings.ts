/**
 * All settings of a place, each with its origin. There is no configuration object: each owner takes the values it needs.
 * A new setting goes into the file of its subject; its key is then known in the profile as well.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../commands/flags.js";
import { type InstructionSettings, readInstructionSettings } from "../../context/instructions/settings.js";
import { type KnowledgeSettings, readKnowledgeSettings } from "../../context/knowledge-base/settings.js";
import { type MemorySettings, readMemorySettings } from "../../context/memory/settings.js";
import { type RetrievalSettings, readRetrievalSettings } from "../../context/retrieval/settings.js";
import { packFolders, readSkillSettings, type SkillSettings } from "../../context/skills/settings.js";
import { type HookSettings, readHookSettings } from "../../extensions/hooks/settings.js";
import { type AgentSettings, readAgentSettings } from "../../extensions/subagents/settings.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import { type ChosenProfile, type ProfileSources, userLayers } from "./choose-profile.js";
import { makeHome } from "./home-folder.js";
import { type ModelSettings, readModelSettings } from "./model-settings.js";
import { type NetworkSettings, readNetworkSettings } from "./network-settings.js";
import { missingPlugins } from "./plugin-folders.js";
import { type Layer, unknownKeys } from "./profile.js";
import { readScreenSettings, type ScreenSettings } from "./screen-settings.js";
import { readSecuritySettings, type SecuritySettings } from "./security-settings.js";
import { readSessionSettings, type SessionSettings } from "./session-settings.js";
import { type ProjectAccess, SettingReader } from "./setting.js";
import { readTurnSettings, type TurnSettings } from "./turn-settings.js";

export interface Settings
  extends ModelSettings,
    TurnSettings,
    AgentSettings,
    HookSettings,
    SecuritySettings,
    NetworkSettings,
    SessionSettings,
    MemorySettings,
    KnowledgeSettings,
    RetrievalSettings,
    SkillSettings,
    InstructionSettings,
    ScreenSettings {}

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
  /** The keys that a profile may have, and what a project may do with each. */
  readonly keys: ReadonlyMap<string, ProjectAccess>;
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
  const settings: Settings = {
    ...(await readModelSettings(from)),
    ...readTurnSettings(from),
    ...readAgentSettings(from),
    ...readHookSettings(from),
    ...(await readSecuritySettings(from)),
    ...readNetworkSettings(from),
    ...readSessionSettings(from),
    ...readMemorySettings(from),
    ...readKnowledgeSettings(from),
    ...readRetrievalSettings(from),
    ...readSkillSettings(from),
    ...readInstructionSettings(from),
    ...readScreenSettings(from),
  };
  // The user's config.toml names the profile.
  for (const layer of from.written("profile", "stricter")) {
    const isConfig = layer.path === join(place.roots.config, "config.toml");
    if (!isConfig)
      from.refuse(layer, "profile", "only your config.toml, --profile and OXBOW_PROFILE choose the profile");
  }
  const { skill_packs: packs } = settings;
  const missing = packFolders(packs.value, place.roots.config).filter((folder) => !existsSync(folder));
  const known = [...from.keys.keys()];
  const warnings = [
    ...layers.flatMap((layer) => unknownKeys(layer, known)),
    ...from.refused,
    ...missingPlugins(settings, { config: place.roots.config, home: sources.variables.HOME }),
    ...missing.map((folder) => `${packs.origin}: there is no skill pack in ${folder}.`),
  ];
  return { ...place, settings, warnings, keys: from.keys };
}

/** A person talks with the model, so questions have no time limit, unless the user has set one. */
export function patient(loaded: LoadedSettings): LoadedSettings {
  const { permission_timeout: timeout } = loaded.settings;
  if (timeout.origin !== "default") return loaded;
  return { ...loaded, settings: { ...loaded.settings, permission_timeout: { value: undefined, origin: "default" } } };
}
