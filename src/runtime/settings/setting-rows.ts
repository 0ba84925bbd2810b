/** Settings as lines for people: the name, the value and the origin; and what each key of a file does. */
import type { DeclaredSetting, DeclaredSettings, Setting } from "../../feature/setting.js";
import type { SettingInfo } from "../../protocol/queries.js";
import { type LoadedSettings, SETTINGS, type Settings } from "./settings.js";

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
  /** Says what a project may do with it. */
  readonly project: "sets it" | "makes it stricter" | "no";
  /** The guide, without `.md`. */
  readonly guide: string;
  readonly holds: "session" | "client" | "engine";
}

const PROJECT = { any: "sets it", stricter: "makes it stricter", never: "no" } as const;

/** Lists the keys of settings files by name. */
export function settingKeys(): readonly SettingKey[] {
  const rows = DECLARED.flatMap(([key, { about, guide = "settings", access, holds }]): SettingKey[] =>
    about === undefined ? [] : [{ key, about, project: PROJECT[access], guide, holds: holds ?? "session" }],
  );
  return rows.sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** Lists the settings that a file can have, with the values of new sessions and of one that has begun. */
export function settingInfos(
  { settings, layers }: Pick<LoadedSettings, "settings" | "layers">,
  inUse: Pick<LoadedSettings, "settings">,
): readonly SettingInfo[] {
  const before = new Map(settingRows(inUse.settings).map(([key, value]) => [key, value]));
  return settingRows(settings).flatMap(([name, value, origin]): SettingInfo[] => {
    const declared: DeclaredSetting<unknown> | undefined = (SETTINGS as DeclaredSettings)[name];
    if (declared?.about === undefined) return [];
    const { about, guide = "settings", holds = "session", command, variable } = declared;
    const now = before.get(name);
    return [
      {
        ...{ name, about, value, origin, source: sourceOf(origin, layers, variable?.name) },
        ...(holds === "session" && now !== undefined && now !== value && { in_use: now }),
        ...kindOf(declared),
        ...{ holds, guide },
        ...(command !== undefined && { command }),
      },
    ];
  });
}

function sourceOf(
  origin: string,
  layers: LoadedSettings["layers"],
  variable: string | undefined,
): SettingInfo["source"] {
  if (origin === "default") return "default";
  if (origin.startsWith("--")) return "flag";
  if (origin === variable) return "environment";
  const layer = layers.findLast(({ path }) => origin.includes(path));
  return layer?.scope === "project" ? "project" : "user";
}

function kindOf({ read }: DeclaredSetting<unknown>): Pick<SettingInfo, "kind" | "choices"> {
  if (read === undefined) return { kind: "file" };
  const { takes = "text" } = read;
  return typeof takes === "string" ? { kind: takes } : { kind: "choice", choices: takes };
}
