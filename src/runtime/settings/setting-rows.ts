/** Settings as lines for people: the name, the value and the origin. */

import { formatBudget } from "../../base/budget-text.js";
import { shorten } from "../../base/cap-text.js";
import { formatDuration } from "../../base/duration.js";
import type { BudgetLimit } from "../../costs/budget.js";
import type { PermissionTable } from "./permission-tables.js";
import type { Settings } from "./settings.js";

export type SettingRow = readonly [key: string, value: string, origin: string];

export function settingRows(settings: Settings): readonly SettingRow[] {
  return Object.entries(settings).map(
    ([key, setting]) => [key.replace(/_ms$/, ""), shown(key, setting.value), setting.origin] as const,
  );
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

function shown(key: string, value: unknown): string {
  if (value === undefined) return key === "provider" || key === "model" ? "(chosen automatically)" : "(none)";
  if (key === "models") return [...(value as ReadonlyMap<string, unknown>).keys()].join(",");
  if (key === "tool_sets") return (value as Settings["tool_sets"]["value"]).names.join(",");
  if (key === "prompt_variants") {
    const { all, chosen } = value as Settings["prompt_variants"]["value"];
    return chosen ?? (all.map(({ name }) => name).join(",") || "(none)");
  }
  if (key === "environment") return (value as Settings["environment"]["value"]).inherit;
  if (key === "hooks") return (value as Settings["hooks"]["value"]).map(({ path }) => path).join(",") || "(none)";
  if (key === "permissions") return tablesText(value as readonly PermissionTable[]);
  // The login in the address is only for the proxy.
  if (key === "proxy") return String(value).replace(/^([a-z]+:\/\/)?.*@/i, "$1");
  if (key.startsWith("budget")) return formatBudget(value as BudgetLimit);
  const isTime = key.endsWith("_ms") || key.endsWith("_timeout");
  if (isTime && typeof value === "number" && Number.isFinite(value)) return formatDuration(value);
  if (key === "log") {
    const { standard, byComponent } = value as Settings["log"]["value"];
    return [standard, ...[...byComponent].map(([component, level]) => `${component}=${level}`)].join(",");
  }
  if (Array.isArray(value)) return value.join(",");
  if (value instanceof URL) return value.href;
  if (typeof value === "object" && value !== null) return Object.keys(value).join(",");
  const text = String(value).replaceAll("\n", "⏎");
  return shorten(text, 60);
}

function tablesText(tables: readonly PermissionTable[]): string {
  const rules = tables.map(({ table }) => (table as { readonly rules?: readonly unknown[] } | undefined)?.rules ?? []);
  const count = rules.flat().length;
  const keys = tables.flatMap(({ table }) => Object.entries(table ?? {})).filter(([key]) => key !== "rules");
  return [`${count} rule${count === 1 ? "" : "s"}`, ...keys.map(([key, value]) => `${key}=${String(value)}`)].join(",");
}
