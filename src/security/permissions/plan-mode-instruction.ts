/** Added to the input of a turn in plan mode: the system prompt does not change. */
export const PLAN_MODE_INSTRUCTION =
  "Plan mode is on. Read what you need and change nothing: tools that change something are refused. Answer with the plan; the user approves it before you carry it out.";
