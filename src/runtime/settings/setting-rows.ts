/** Settings as lines for people: the name, the value and the origin; and what each key of a file does. */
import type { DeclaredSettings, Setting } from "../../feature/setting.js";
import { SETTINGS, type Settings } from "./settings.js";

export type SettingRow = readonly [key: string, value: string, origin: string];

const DECLARED = Object.entries(SETTINGS as DeclaredSettings);

export function settingRows(settings: Settings): readonly SettingRow[] {
  return DECLARED.map(([key, { show }]) => {
    const { value, origin }: Setting<unknown> = settings[key as keyof Settings];
    return [key, show(value), origin];
  });
}

export function alignRows(lines: readonly SettingRow[]): string {
  const widths = [0, 1].map((column) => Math.max(0, ...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map(([key, value, origin]) => `${key.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${origin}`)
    .join("\n");
}

export function rowsValue(lines: readonly SettingRow[]) {
  return Object.fromEntries(lines.map(([key, value, origin]) => [key.replaceAll(" ", "_"), { value, origin }]));
}

export interface SettingKey {
  readonly key: string;
  readonly about: string;
  /** What a project may do with it. */
  readonly project: "sets it" | "makes it stricter" | "no";
  /** The guide, without `.md`. */
  readonly guide: string;
  readonly holds: "session" | "engine";
}

const PROJECT = { any: "sets it", stricter: "makes it stricter", never: "no" } as const;

/** Lists the keys of settings files by name. */
export function settingKeys(): readonly SettingKey[] {
  const rows = DECLARED.flatMap(([key, { about, guide = "settings", access, holds }]): SettingKey[] =>
    about === undefined ? [] : [{ key, about, project: PROJECT[access], guide, holds: holds ?? "session" }],
  );
  return rows.sort((one, other) => (one.key < other.key ? -1 : 1));
}
