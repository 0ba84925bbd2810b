/** A rule that the user wrote, and what it applies to. */

import { type Glob, matchesPath, matchesText, matchesWords, mayMatchWords } from "../../base/glob.js";
import type { JsonObject } from "../../protocol/json.js";
import {
  type CommandFacts,
  type CommandPart,
  DECISIONS,
  type Decision,
  type DecisionFacts,
  type Identity,
  type PathFacts,
} from "./facts.js";

export interface RuleSource {
  /** The file it was read from, as a person would name it. */
  readonly file: string;
  /** The author of a project wrote its rules: they cannot lift the blocklist. */
  readonly scope: "user" | "project";
}

export interface PermissionRule {
  readonly tool: Glob;
  /** At most one of `command`, `path` and `argument`; with none of them the rule speaks of every call of the tool. */
  readonly command?: Glob;
  readonly path?: PathGlob;
  readonly argument?: { readonly name: string; readonly glob: Glob };
  /** Only for turns that such a client started. */
  readonly originator?: Identity;
  readonly decision: Decision;
  /** Higher wins; default: 0. */
  readonly priority: number;
  readonly reason?: string;
  /** The sandbox opens the network for the commands that it allows. */
  readonly network?: true;
  /** It allows also what the blocklist refuses. */
  readonly liftsBlocklist: boolean;
  /** Commands, paths, values or tool names (whatever the rule is about) that it must and must not apply to. */
  readonly match: readonly string[];
  readonly not_match: readonly string[];
  readonly source: RuleSource;
  /** Its place in the file, from 1. */
  readonly number: number;
}

export interface PathGlob {
  readonly glob: Glob;
  /** The same for names in lower case: a denial must not depend on letter case. */
  readonly folded: Glob;
  /** It begins at the root of the file system, not at the workspace. */
  readonly absolute: boolean;
  /** It begins with `**`: also anywhere outside, for what forbids. */
  readonly anywhere: boolean;
}

/** The call, or one part of it, that a rule is matched against. */
export type Subject =
  | { readonly kind: "call" }
  | { readonly kind: "command"; readonly part: CommandPart; readonly whole: CommandFacts }
  /** A command that could not be understood. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "path"; readonly path: PathFacts };

export interface RuleCall {
  readonly tool: string;
  readonly originator: Identity;
}

export function callOf({ tool, originator }: Pick<DecisionFacts, "tool" | "originator">): RuleCall {
  return { tool: tool.name, originator };
}

export interface RuleMatch {
  readonly rule: PermissionRule;
  /** The rule's own, or `ask` if its denial might apply. */
  readonly decision: Decision;
  readonly certain: boolean;
}

/** The rules about a call, whatever parts of it they concern. */
export function rulesAbout(
  rules: readonly PermissionRule[],
  { tool, originator }: RuleCall,
): readonly PermissionRule[] {
  return rules.filter(
    (rule) => (rule.originator === undefined || rule.originator === originator) && matchesText(rule.tool, tool),
  );
}

/**
 * Of rules about the call, the one that decides: by priority, then deny before ask before allow, then the more specific, then the
 * earlier. A rule that might apply turns an allowance that it would override into a question, never
 * a denial. A rule of a project counts only where it is stricter than the user's rules, whatever its priority.
 */
export function decidingRule(
  rules: readonly PermissionRule[],
  args: JsonObject,
  subject: Subject,
): RuleMatch | undefined {
  const ofProject = rules.filter(({ source }) => source.scope === "project");
  if (ofProject.length === 0) return strongest(rules, args, subject);
  const yours = strongest(
    rules.filter(({ source }) => source.scope === "user"),
    args,
    subject,
  );
  const theirs = strongest(ofProject, args, subject);
  if (theirs === undefined || theirs.decision === "allow") return yours;
  return yours === undefined || isStricter(theirs, yours) ? theirs : yours;
}

function isStricter(one: RuleMatch, other: RuleMatch): boolean {
  return DECISIONS.indexOf(one.decision) > DECISIONS.indexOf(other.decision);
}

function strongest(rules: readonly PermissionRule[], args: JsonObject, subject: Subject): RuleMatch | undefined {
  let certain: RuleMatch | undefined;
  let possible: RuleMatch | undefined;
  for (const rule of rules) {
    const match = matchDetail(rule, args, subject);
    if (match?.certain === true) certain = higher(match, certain);
    else if (match !== undefined) possible = higher(match, possible);
  }
  if (certain === undefined || possible === undefined) return certain ?? possible;
  return certain.decision === "allow" ? higher(certain, possible) : certain;
}

/** The decision of a rule about one part of the call. */
export function matchDetail(rule: PermissionRule, args: JsonObject, subject: Subject): RuleMatch | undefined {
  const { argument } = rule;
  if (argument !== undefined) {
    const value = Object.hasOwn(args, argument.name) ? args[argument.name] : undefined;
    return value !== undefined && matchesText(argument.glob, argumentText(value)) ? sure(rule) : undefined;
  }
  if (rule.command === undefined && rule.path === undefined) return sure(rule);
  return rule.decision === "allow" ? matchAllowing(rule, subject) : matchForbidding(rule, subject);
}

/** Matches what allows, which must be certain: every word known, nothing around them that the rule does not say. */
function matchAllowing(rule: PermissionRule, subject: Subject): RuleMatch | undefined {
  if (subject.kind === "command" && rule.command !== undefined) {
    const { part, whole } = subject;
    const fits = part.coverage === "exact" ? rule.command.exact : part.coverage !== "none";
    const covered = whole.joined && fits && matchesWords(rule.command, part.words);
    return covered ? sure(rule) : undefined;
  }
  if (subject.kind === "path" && rule.path !== undefined) {
    const { path } = subject;
    if (!rule.path.absolute && path.place !== "workspace") return undefined;
    return matchesPath(rule.path.glob, rule.path.absolute ? path.absolute : path.display) ? sure(rule) : undefined;
  }
  return undefined;
}

/** A denial also looks behind wrappers and full paths, and asks if it is not sure. */
function matchForbidding(rule: PermissionRule, subject: Subject): RuleMatch | undefined {
  if (subject.kind === "text") return { rule, decision: "ask", certain: false };
  if (subject.kind === "path") return rule.path && touches(rule.path, subject.path) ? sure(rule) : undefined;
  if (subject.kind !== "command") return undefined;
  const { part } = subject;
  if (rule.path !== undefined) {
    const { path } = rule;
    return part.paths.some((each) => touches(path, each)) ? sure(rule) : undefined;
  }
  const glob = rule.command;
  if (glob === undefined) return undefined;
  if (part.readings.some((words) => matchesWords(glob, words))) return sure(rule);
  return part.readings.some((words) => words.includes(undefined) && mayMatchWords(glob, words))
    ? { rule, decision: "ask", certain: false }
    : undefined;
}

function touches({ folded, absolute, anywhere }: PathGlob, path: PathFacts): boolean {
  const inside = path.place === "workspace" && !absolute && matchesPath(folded, path.display.toLowerCase());
  return inside || ((absolute || anywhere) && matchesPath(folded, path.absolute.toLowerCase()));
}

function sure(rule: PermissionRule): RuleMatch {
  return { rule, decision: rule.decision, certain: true };
}

function higher(one: RuleMatch, other: RuleMatch | undefined): RuleMatch {
  return other === undefined || outranks(one, other) ? one : other;
}

function outranks(one: RuleMatch, other: RuleMatch): boolean {
  if (one.rule.priority !== other.rule.priority) return one.rule.priority > other.rule.priority;
  if (one.decision !== other.decision) return DECISIONS.indexOf(one.decision) > DECISIONS.indexOf(other.decision);
  return specificity(one.rule) > specificity(other.rule);
}

function specificity({ tool, command, path, argument }: PermissionRule): number {
  const detail = command ?? path?.glob ?? argument?.glob;
  return tool.literals + (detail === undefined ? 0 : 1000 + detail.literals);
}

/** An argument that is not a text is compared as JSON. */
function argumentText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** For people: `rule 3 of FILE`. */
export function ruleName({ number, source }: PermissionRule): string {
  return `rule ${number} of ${source.file}`;
}

/** The rule in one line: `deny bash rm -rf *`. */
export function ruleText(rule: PermissionRule): string {
  const { tool, command, path, argument, originator, decision, priority, network } = rule;
  const detail =
    command?.source ?? path?.glob.source ?? (argument && `${argument.name}=${argument.glob.source}`) ?? "(any call)";
  const more = [
    ...(network ? ["with the network"] : []),
    ...(originator === undefined ? [] : [`from a${originator === "agent" ? "n agent" : " human"}`]),
    ...(priority === 0 ? [] : [`priority ${priority}`]),
  ];
  return `${decision} ${tool.source} ${detail}${more.length > 0 ? ` (${more.join(", ")})` : ""}`;
}
