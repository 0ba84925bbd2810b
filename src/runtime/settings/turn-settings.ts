/** Settings of a turn: its tools, its limits and its budgets. */
import type { BudgetLimit } from "../../costs/budget.js";
import type { Setting, SettingReader } from "./setting.js";
import * as read from "./setting-readers.js";
import { readToolChoice, type ToolChoice } from "./tool-choice.js";

export interface TurnSettings {
  readonly tool_sets: Setting<ToolChoice>;
  readonly max_iterations: Setting<number>;
  readonly timeout_ms: Setting<number | undefined>;
  /** The default time limit of a command. */
  readonly run_timeout_ms: Setting<number | undefined>;
  /** Plugins to load besides those of the user's folder: paths and installed packages. */
  readonly plugins: Setting<readonly string[]>;
  readonly plugin_dirs: Setting<readonly string[]>;
  /** The `[plugin]` tables, as they were written. */
  readonly plugin: Setting<unknown>;
  /** The part of the window at which the conversation is compacted; undefined for never. */
  readonly compact_at: Setting<number | undefined>;
  /** Budgets: of this run, a turn, a session with all its runs, and all sessions of a day. */
  readonly budget: Setting<BudgetLimit | undefined>;
  readonly budget_turn: Setting<BudgetLimit | undefined>;
  readonly budget_session: Setting<BudgetLimit | undefined>;
  readonly budget_day: Setting<BudgetLimit | undefined>;
}

export function readTurnSettings(from: SettingReader): TurnSettings {
  return {
    tool_sets: readToolChoice(from),
    max_iterations: from.pick({
      key: "max_iterations",
      flag: "max-iterations",
      variable: "OXBOW_MAX_TURNS",
      fallback: 100,
      read: read.wholeNumber,
      project: isAtMost,
    }),
    timeout_ms: from.pick({
      key: "timeout",
      flag: "timeout",
      fallback: undefined,
      read: read.duration,
      project: isAtMost,
    }),
    run_timeout_ms: from.pick<number | undefined>({
      key: "run_timeout",
      flag: "run-timeout",
      fallback: 5 * 60_000,
      read: read.limit,
      project: "any",
    }),
    plugins: from.pick<readonly string[]>({ key: "plugins", fallback: [], read: read.names }),
    plugin_dirs: from.pick<readonly string[]>({
      key: "plugin_dirs",
      flag: "plugin-dir",
      fallback: [],
      read: read.names,
    }),
    plugin: from.tables("plugin"),
    compact_at: from.pick<number | undefined>({
      key: "compact_at",
      fallback: 0.8,
      read: read.windowShare,
      project: "any",
    }),
    ...readBudgets(from),
  };
}

function readBudgets(from: SettingReader): Pick<TurnSettings, `budget${string}` & keyof TurnSettings> {
  const limit = { fallback: undefined, read: read.budget, project: isAtMostBudget };
  return {
    budget: from.pick({ key: "budget", flag: "budget", ...limit }),
    budget_turn: from.pick({ key: "budget_turn", ...limit }),
    budget_session: from.pick({ key: "budget_session", ...limit }),
    budget_day: from.pick({ key: "budget_day", ...limit }),
  };
}

/** Undefined: no limit. */
function isAtMost(theirs: number | undefined, yours: number | undefined): boolean {
  return yours === undefined || (theirs !== undefined && theirs <= yours);
}

function isAtMostBudget(theirs: BudgetLimit | undefined, yours: BudgetLimit | undefined): boolean {
  return yours === undefined || (isAtMost(theirs?.usd, yours.usd) && isAtMost(theirs?.tokens, yours.tokens));
}
