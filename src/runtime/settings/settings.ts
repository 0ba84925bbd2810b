/**
 * All settings of a place, each with its origin. There is no configuration object: each owner takes the values it needs.
 * A new setting goes into the file of its subject; its key is then known in the profile as well.
 */
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../commands/flags.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import { type AgentSettings, readAgentSettings } from "./agent-settings.js";
import { makeHome } from "./home-folder.js";
import { type ModelSettings, readModelSettings } from "./model-settings.js";
import { type NetworkSettings, readNetworkSettings } from "./network-settings.js";
import { readProfile, unknownKeys } from "./profile.js";
import { readScreenSettings, type ScreenSettings } from "./screen-settings.js";
import { readSecuritySettings, type SecuritySettings } from "./security-settings.js";
import { readSessionSettings, type SessionSettings } from "./session-settings.js";
import { SettingReader } from "./setting.js";
import { readTurnSettings, type TurnSettings } from "./turn-settings.js";

export interface Settings
  extends ModelSettings,
    TurnSettings,
    AgentSettings,
    SecuritySettings,
    NetworkSettings,
    SessionSettings,
    ScreenSettings {}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly roots: Roots;
  readonly profilePath: string;
  readonly warnings: readonly string[];
}

export async function loadSettings(flags: ParsedFlags, variables: Variables): Promise<LoadedSettings> {
  const where = roots(variables);
  makeHome(variables);
  const profilePath = variables.OXBOW_PROFILE || join(where.config, "config.toml");
  const profile = await readProfile(profilePath, { required: Boolean(variables.OXBOW_PROFILE) });
  const from = new SettingReader({ flags, variables, profile, profilePath });
  const settings: Settings = {
    ...(await readModelSettings(from)),
    ...readTurnSettings(from),
    ...readAgentSettings(from),
    ...readSecuritySettings(from),
    ...readNetworkSettings(from),
    ...readSessionSettings(from),
    ...readScreenSettings(from),
  };
  return { settings, roots: where, profilePath, warnings: unknownKeys(profile, from.keys, profilePath) };
}
