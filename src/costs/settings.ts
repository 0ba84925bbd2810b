/** Budgets: of this run, a turn, a session with all its runs, and all sessions of a day. */
import { formatBudget, parseBudget } from "../base/budget-text.js";
import { UsageError } from "../base/usage-error.js";
import { type SettingFlag, setting, shown } from "../feature/setting.js";
import type { BudgetLimit } from "./budget.js";

export const budgetSettings = {
  budget: budget("the most that a run may cost", {
    value: "AMOUNT",
    help: "stop before this run spends more: 0.50 (US dollars), '200k tokens', or both with a comma",
  }),
  budget_turn: budget("the most that a turn may cost"),
  budget_session: budget("the most that a session may cost"),
  budget_day: budget("the most that a day may cost"),
};

function budget(about: string, flag?: SettingFlag) {
  return setting<BudgetLimit>({
    ...{ about, guide: "costs", read: readBudget },
    // `/budget` is about this run, too.
    ...(flag !== undefined && { flag, command: "budget" }),
    project: (theirs, yours) =>
      yours === undefined || (isAtMost(theirs?.usd, yours.usd) && isAtMost(theirs?.tokens, yours.tokens)),
    show: (value) => (value === undefined ? shown(value) : formatBudget(value)),
  });
}

function readBudget(text: string): BudgetLimit {
  const limit = parseBudget(text);
  if (limit !== undefined) return limit;
  throw new UsageError(
    `expected an amount such as 0.50 (US dollars), "200k tokens" or "$2, 1M tokens", got "${text}".`,
  );
}

function isAtMost(theirs: number | undefined, yours: number | undefined): boolean {
  return yours === undefined || (theirs !== undefined && theirs <= yours);
}
