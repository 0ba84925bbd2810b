/** Settings of hooks. */
import { type DeclaredSetting, originOf, type SettingsOf } from "../../feature/setting.js";

/** A `[hooks]` table as it was written. */
export interface WrittenHooks {
  readonly path: string;
  readonly value: unknown;
}

/** The `[hooks]` tables of each file but those of projects, which are approved one by one. */
const hooks: DeclaredSetting<readonly WrittenHooks[]> = {
  about: "[[hooks]]: commands at moments of a session",
  guide: "hooks",
  access: "any",
  flags: () => [],
  show: (tables) => tables.map(({ path }) => path).join(",") || "(none)",
  take: (from, key) => {
    const layers = from.written(key, "any").filter(({ scope }) => scope !== "project");
    const value = layers.map(({ path, profile }) => ({ path, value: profile[key] }));
    return { value, origin: layers.map((layer) => originOf(layer, key)).join(", ") || "default" };
  },
};

export const hookSettings = { hooks };

export type HookSettings = SettingsOf<typeof hookSettings>;
