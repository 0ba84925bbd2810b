/** Settings of hooks. */
import { originOf, type Setting, type SettingReader } from "../../feature/setting.js";

/** A `[hooks]` table as it was written. */
export interface WrittenHooks {
  readonly path: string;
  readonly value: unknown;
}

export interface HookSettings {
  /** The `[hooks]` tables of each file but those of projects, which are approved one by one. */
  readonly hooks: Setting<readonly WrittenHooks[]>;
}

export function readHookSettings(from: SettingReader): HookSettings {
  const layers = from.written("hooks", "any").filter(({ scope }) => scope !== "project");
  const value = layers.map(({ path, profile }) => ({ path, value: profile.hooks }));
  return { hooks: { value, origin: layers.map((layer) => originOf(layer, "hooks")).join(", ") || "default" } };
}
