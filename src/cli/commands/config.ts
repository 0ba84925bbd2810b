/** `oxbow config show`: each value and where it came from (feature U10). */

import { formatBudget } from "../../base/budget-text.js";
import { formatDuration } from "../../base/duration.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, parseFlags, unknownAction } from "../../commands/flags.js";
import type { BudgetLimit } from "../../costs/budget.js";
import { type LoadedSettings, loadSettings, type Settings } from "../../runtime/settings/settings.js";
import { EXIT } from "../exit-codes.js";
import { RUN_FLAGS } from "./run-flags.js";

export const FLAGS: readonly Flag[] = [
  { name: "json", help: "as JSON" },
  ...RUN_FLAGS.filter((flag) =>
    [
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
      "help",
    ].includes(flag.name),
  ),
];

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "config");
  if (flags.has("help")) {
    process.stdout.write(
      `Usage: oxbow config show [flags]\n\nFlags are taken into account as a run would.\n${helpLines(FLAGS)}\n`,
    );
    return EXIT.answered;
  }
  const [action, ...more] = flags.words;
  if (action !== undefined && action !== "show") throw unknownAction("config", action, ["show"]);
  if (action === undefined || more.length > 0) throw new UsageError("Say 'oxbow config show'.");
  const loaded = await loadSettings(flags, variables);
  for (const warning of loaded.warnings) process.stderr.write(`oxbow: ${warning}\n`);
  process.stdout.write(flags.has("json") ? asJson(loaded) : asTable(loaded));
  return EXIT.answered;
}

function shown(key: string, value: unknown): string {
  if (value === undefined) return key === "provider" || key === "model" ? "(chosen by what is ready)" : "(none)";
  if (key === "models") return [...(value as ReadonlyMap<string, unknown>).keys()].join(",");
  // A login in the address is for the proxy alone.
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
  return `${lines.map(([key, value, origin]) => `${key.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${origin}`).join("\n")}\n`;
}

function asJson(loaded: LoadedSettings): string {
  const entries = rows(loaded).map(([key, value, origin]) => [key.replaceAll(" ", "_"), { value, origin }]);
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}
