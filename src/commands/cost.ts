/** `/cost` and `/budget` (feature M14). */
import type { SlashCommand } from "./registry.js";

export const costCommands: readonly SlashCommand[] = [
  {
    name: "cost",
    usage: "/cost",
    summary: "what this session has spent, by provider and model",
    run: (_args, { costs }) => costs.report(),
  },
  {
    name: "budget",
    forPeople: true,
    usage: "/budget [AMOUNT | off]",
    summary: "show the budgets, or set the one of this run: 0.50, '200k tokens'",
    run: (args, { costs }) => costs.budget(args),
  },
];
