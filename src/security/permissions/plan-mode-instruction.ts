/** Added to the input of a turn in plan mode: the system prompt does not change. */
export const PLAN_MODE_INSTRUCTION =
  "Plan mode is on. Read what you need and change nothing: tools that change something are refused. Answer with the plan; the user approves it before you carry it out.";

/** The same for a subagent, whose plan no one approves. */
export const PLANNING_SUBAGENT_INSTRUCTION =
  "You can only read here: tools that change something are refused. Say in your report what should be done.";
