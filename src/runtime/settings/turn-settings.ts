/** Settings of a turn: its tools, its limits, its budgets and the text that the model gets. */
import { DEFAULT_INSTRUCTION_BYTES } from "../../context/instructions/capped-texts.js";
import type { BudgetLimit } from "../../costs/budget.js";
import { type PromptVariants, readPromptVariants } from "./prompt-variants.js";
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
  readonly system_prompt: Setting<string | undefined>;
  readonly prompt_variants: Setting<PromptVariants>;
  /** A text for the model before the instruction files, with any system prompt. */
  readonly prompt_header: Setting<string | undefined>;
  /** Instruction files to load, in this order, from each folder. */
  readonly context_sources: Setting<readonly string[]>;
  /** The size limit of all of them. */
  readonly context_bytes: Setting<number>;
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
    system_prompt: from.pick({
      key: "system_prompt",
      flag: "system-prompt",
      fallback: undefined,
      read: read.textOrFile,
    }),
    prompt_variants: readPromptVariants(from),
    prompt_header: from.pick<string | undefined>({
      key: "prompt_header",
      fallback: undefined,
      read: (text) => text.trim() || undefined,
      project: "any",
    }),
    context_sources: from.pick<readonly string[]>({
      key: "context_sources",
      fallback: ["AGENTS.md | CLAUDE.md"],
      read: read.contextSources,
      project: "any",
    }),
    context_bytes: from.pick({
      key: "context_bytes",
      fallback: DEFAULT_INSTRUCTION_BYTES,
      read: read.wholeNumber,
      project: "any",
    }),
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
