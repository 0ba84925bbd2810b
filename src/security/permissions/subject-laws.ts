/** The laws about one command or one file of a call (`decide.ts` states them). */
import { type Need, partNeed } from "./contained/needs.js";
import type { DecisionFacts } from "./facts.js";
import { guardedPaths, guardedText, namesExactly } from "./guarded-paths.js";
import type { PermissionPolicy } from "./policy.js";
import { decidingRule, type PermissionRule, type RuleMatch, ruleName, type Subject } from "./rule.js";
import { type SessionRule, sessionRuleFor } from "./session-rules.js";
import type { Verdict } from "./verdict.js";

export interface Grounds {
  readonly policy: PermissionPolicy;
  /** Those about the call. */
  readonly rules: readonly PermissionRule[];
  readonly session: readonly SessionRule[];
  /** Holds what the whole call needs beyond what the sandbox of mode `auto` gives. */
  readonly needs: readonly Need[];
}

export function judgeSubject(subject: Subject, facts: DecisionFacts, grounds: Grounds): Verdict {
  const { policy, rules, session, needs } = grounds;
  const about = aboutText(subject);
  const match = decidingRule(rules, facts.args, subject);
  const guarded = guardedPaths(subject);
  if (guarded.length > 0 && !(match !== undefined && (match.decision === "deny" || namesExactly(match, guarded)))) {
    return { decision: "ask", law: "guarded", decidedBy: "guarded path", reason: guardedText(guarded), ...about };
  }
  if (match !== undefined) return { ...ruleVerdict(match), ...about };
  if (policy.mode === "allow") {
    const reason = "The permission mode allows everything that no rule denies.";
    return { decision: "allow", law: "mode allow", decidedBy: "mode allow", reason };
  }
  // A yes to the tool as a whole was none to the network or to changes of the repository, unless the question was about such a call.
  const isEnough = ({ draft }: SessionRule) => needs.length === 0 || draft.kind !== "tool" || draft.beyond === true;
  const allowed = sessionRuleFor(session.filter(isEnough), facts, subject);
  if (allowed !== undefined) {
    const reason = "You allowed it for this session.";
    return { decision: "allow", law: "session", decidedBy: `session rule ${allowed.number}`, reason, ...about };
  }
  const trouble = policy.preset === "strict" ? "The quiet preset is off." : quietTrouble(subject, facts);
  if (trouble === undefined) {
    const reason = "It only reads.";
    return { decision: "allow", law: "quiet preset", decidedBy: "quiet preset", reason, ...about };
  }
  if (isContainedEdit(subject, facts, policy)) {
    const reason = "It edits inside the workspace, and the sandbox contains what runs there.";
    return { decision: "allow", law: "contained edit", decidedBy: "contained edit", reason, ...about };
  }
  if (isContainedCommand(subject, facts, grounds)) {
    const reason =
      "It runs in the sandbox: without network, with .git read-only and your home folder hidden. /undo reverts its changes.";
    return { decision: "allow", law: "contained command", decidedBy: `mode ${policy.mode}`, reason, ...about };
  }
  if (policy.mode === "review" && isContainedEdit(subject, facts, { edits: "contained", mode: "auto" })) {
    const reason = "You review each edit.";
    return { decision: "ask", law: "mode review", decidedBy: "mode review", reason, ...about };
  }
  // A sandbox blocks these in every mode.
  const need = facts.sandboxed && policy.preset !== "strict" ? needOf(subject, grounds) : undefined;
  const cause = need === undefined ? causeText(subject) : need.about === undefined ? {} : { about: need.about };
  const reason = need?.reason ?? trouble;
  return { decision: "ask", law: "default", decidedBy: `mode ${policy.mode}`, reason, ...cause };
}

function needOf(subject: Subject, { policy, needs }: Grounds): Need | undefined {
  if (subject.kind !== "command") return undefined;
  const own = partNeed(subject.part, policy);
  if (own !== undefined) return { ...own, about: subject.part.text };
  const { deletes } = subject.whole;
  return needs[0] ?? (deletes === undefined ? undefined : { reason: deletes, opens: [] });
}

/** A part that only reads asks because of the command around it. */
function causeText(subject: Subject): { readonly about?: string } {
  return subject.kind === "command" && subject.part.verdict === "read-only" ? {} : aboutText(subject);
}

export function isContained({ contained, tool }: DecisionFacts, { preset }: PermissionPolicy): boolean {
  return preset !== "strict" && contained === true && tool.origin === "built-in" && tool.set === "command";
}

function isContainedCommand(subject: Subject, facts: DecisionFacts, { policy, needs }: Grounds): boolean {
  if ((policy.mode !== "auto" && policy.mode !== "review") || needs.length > 0) return false;
  // The sandbox contains commands that are not understood, too.
  return isContained(facts, policy) && (subject.kind === "command" || subject.kind === "text");
}

function ruleVerdict({ rule, decision, certain }: RuleMatch): Verdict {
  const name = ruleName(rule);
  const why = rule.reason ?? `A rule says so.`;
  const reason = certain ? why : `${name} may apply: ${why}`;
  return { decision, law: "rule", decidedBy: name, reason, rule };
}

/** Built-in tools that only concern what was allowed before. */
const OWN_BUSINESS: ReadonlySet<string> = new Set(["background"]);

/** Tells why the quiet preset does not cover it; undefined when it does. */
function quietTrouble(subject: Subject, { tool, command }: DecisionFacts): string | undefined {
  if (tool.origin !== "built-in") return `${tool.name} comes from an extension.`;
  if (subject.kind === "text") return command?.reason ?? "Oxbow cannot parse it.";
  if (subject.kind === "command") {
    const { part, whole } = subject;
    if (part.verdict !== "read-only") return part.reason;
    return whole.plain ? undefined : whole.reason;
  }
  if (OWN_BUSINESS.has(tool.name)) return undefined;
  if (tool.mutating) return `Each call of ${tool.name} asks, until you allow it.`;
  if (tool.network === true || tool.set === "web") return `${tool.name} connects to other machines.`;
  if (subject.kind !== "path") return undefined;
  const { path } = subject;
  if (path.place !== "workspace") return `${path.display} is outside the workspace.`;
  return path.sensitive === undefined ? undefined : `${path.display}: ${path.sensitive}.`;
}

function isContainedEdit(
  subject: Subject,
  { tool, sandboxed }: DecisionFacts,
  policy: Pick<PermissionPolicy, "edits" | "mode">,
): boolean {
  const { edits, mode } = policy;
  if (!sandboxed || mode === "review" || edits === "ask" || tool.origin !== "built-in" || tool.set !== "edit")
    return false;
  if (subject.kind !== "path" || subject.path.place !== "workspace") return false;
  return subject.path.sensitive === undefined;
}

function aboutText(subject: Subject): { readonly about?: string } {
  if (subject.kind === "command") return { about: subject.part.text };
  if (subject.kind === "path") return { about: subject.path.display };
  return subject.kind === "text" ? { about: subject.text } : {};
}
