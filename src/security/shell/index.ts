/** Shell understanding: what a bash text would run, and whether it only reads. */
export type {
  JudgedCommand,
  JudgeOptions,
  ShellJudgement,
  ShellVerdict,
} from "./judge.js";
export { decideByRules, type RuleOptions, type SessionPattern } from "./patterns.js";
export type { ProgramRules, ProgramTable } from "./programs/rules.js";
export type * from "./syntax.js";
export type { FoundCommand, Place } from "./walk.js";
