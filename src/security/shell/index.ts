/** Shell understanding: what a bash text would run, and whether it only reads. */
export { parseShell } from "./grammar.js";
export {
  type JudgedCommand,
  type JudgeOptions,
  judgeCommand,
  type ShellJudgement,
  type ShellVerdict,
} from "./judge.js";
export { decideByRules, matchesPattern, type RuleOptions, type SessionPattern, sessionPattern } from "./patterns.js";
export { QUIET_GIT_ENVIRONMENT } from "./programs/quiet-git.js";
export type { ProgramRules, ProgramTable } from "./programs/rules.js";
export type * from "./syntax.js";
export { type FoundCommand, type Place, simpleCommands } from "./walk.js";
export { fixedValue } from "./word-values.js";
