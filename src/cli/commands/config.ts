/** `oxbow config show`: each setting and where it came from. */

import { formatBudget } from "../../base/budget-text.js";
import { formatDuration } from "../../base/duration.js";
import { CONFIG_SHOW } from "../../commands/catalogue/program.js";
import type { Command } from "../../commands/command.js";
import type { BudgetLimit } from "../../costs/budget.js";
import { type LoadedSettings, loadSettings, type Settings } from "../../runtime/settings/settings.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { RUN_FLAGS } from "./run-flags.js";

const TAKEN = [
  "model",
  "provider",
  "max-iterations",
  "tool-set",
  "permission-mode",
  "system-prompt",
  "timeout",
  "run-timeout",
  "ollama-timeout",
  "budget",
  "retry-wait",
  "log-level",
];

export const shell: ShellCommand = {
  name: "config",
  specs: [{ ...CONFIG_SHOW, shellFlags: RUN_FLAGS.filter(({ name }) => TAKEN.includes(name)) }],
  about: "Shows the settings. Flags count as in a run.",
  open: async (flags, variables) => ({ commands: [showCommand(await loadSettings(flags, variables))] }),
};

export const run = shellRunner(shell);

function showCommand(loaded: LoadedSettings): Command {
  return {
    ...CONFIG_SHOW,
    run: (_args, { warn }) => {
      for (const warning of loaded.warnings) warn(warning);
      return { text: asTable(loaded), value: asJson(loaded) };
    },
  };
}

function shown(key: string, value: unknown): string {
  if (value === undefined) return key === "provider" || key === "model" ? "(chosen automatically)" : "(none)";
  if (key === "models") return [...(value as ReadonlyMap<string, unknown>).keys()].join(",");
  // Only the proxy may see a login in the address.
  if (key === "proxy") return String(value).replace(/^([a-z]+:\/\/)?.*@/i, "$1");
  if (key.startsWith("budget")) return formatBudget(value as BudgetLimit);
  if (key.endsWith("_ms")) return formatDuration(value as number);
  if (key === "log") {
    const { standard, byComponent } = value as Settings["log"]["value"];
    return [standard, ...[...byComponent].map(([component, level]) => `${component}=${level}`)].join(",");
  }
  if (Array.isArray(value)) return value.join(",");
  if (typeof value === "object" && value !== null) return Object.keys(value).join(",");
  const text = String(value).replaceAll("\n", "⏎");
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

function rows({ settings, roots, profilePath }: LoadedSettings): readonly (readonly [string, string, string])[] {
  const values = Object.entries(settings).map(
    ([key, setting]) => [key.replace(/_ms$/, ""), shown(key, setting.value), setting.origin] as const,
  );
  return [
    ...values,
    ["profile", profilePath, "OXBOW_PROFILE, or config.toml in the configuration folder"],
    ["config folder", roots.config, "OXBOW_HOME or XDG_CONFIG_HOME"],
    ["data folder", roots.data, "OXBOW_HOME or XDG_DATA_HOME"],
    ["state folder", roots.state, "OXBOW_HOME or XDG_STATE_HOME"],
    ["cache folder", roots.cache, "OXBOW_HOME or XDG_CACHE_HOME"],
  ];
}

function asTable(loaded: LoadedSettings): string {
  const lines = rows(loaded);
  const widths = [0, 1].map((column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map(([key, value, origin]) => `${key.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${origin}`)
    .join("\n");
}

function asJson(loaded: LoadedSettings) {
  return Object.fromEntries(rows(loaded).map(([key, value, origin]) => [key.replaceAll(" ", "_"), { value, origin }]));
}
