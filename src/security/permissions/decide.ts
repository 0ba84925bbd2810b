/**
 * Allow, ask or deny (features P1 to P9, L16). Pure: facts, policy and session in, verdict out.
 *
 * These laws are held against a call in this order; the first that speaks decides.
 *
 *  1. Mode `deny` denies.
 *  2. In plan mode only what reads passes: tools that change nothing, and commands that are known to only read.
 *  3. A file outside of what the tool itself can reach is denied: asking about it would be in vain.
 *  4. The blocklist denies, in every mode: programs that show credentials, and Oxbow's own files. Only a rule that a person wrote
 *     in their own profile with `lift_blocklist` passes, and only if it is the one that law 7 would follow.
 *  5. Safe mode denies commands that are not on its list.
 *  6. Path permissions deny what they do not grant. Where that, or one of Oxbow's own folders, lies somewhere below what is searched,
 *     what the laws after this one would allow is asked about.
 *
 * From here a call is taken apart: each simple command of a command text, or each file of a tool that touches files, is decided by
 * itself, and the strictest decision is the call's. So an allow has to cover everything, and a deny or ask needs one thing only.
 *
 * From here on a guarded path (`../guard-list`) that would change asks, whatever the rules, the mode and the session allow: only a
 * rule of the person's own profile that names exactly this path, or exactly this command, lets it pass. A rule that denies still does.
 *
 *  7. Rules, by priority, then deny before ask before allow, then the more specific. A rule that asks, asks every time.
 *  8. Mode `allow` allows.
 *  9. What a person allowed for this session is allowed.
 * 10. The quiet preset, unless strict, allows built-in tools that change nothing and stay in the workspace away from sensitive
 *     files and the network, and commands that are known to only read.
 * 11. Where a sandbox works, edits inside the workspace are allowed, but for files that other programs run or obey, and unless
 *     the profile says `edits = "ask"`.
 * 12. In mode `auto`, unless strict, where the sandbox holds a command tightly enough, it is allowed, unless its words say that the whole text needs
 *     more than the sandbox gives, or deletes much of the workspace.
 * 13. Everything else asks.
 *
 * The arguments of a call are data: they are compared with globs and paths, and nothing in them can name a rule, a mode or an
 * identity. Whatever is missing or not understood counts against the call.
 */
import { guardedName } from "../guard-list/guarded-names.js";
import { type SafeModeState, safeModeRefusal } from "../safe-mode/safe-mode.js";
import { commandNeeds, type Need, type Opening, partNeed } from "./contained/needs.js";
import { DECISIONS, type DecisionFacts, type PathFacts } from "./facts.js";
import type { PermissionMode } from "./modes.js";
import type { EditPolicy, PermissionPreset } from "./parse-rules.js";
import { type PathPermissionState, placed, printAccess, refusingBelow, refusingEntry } from "./path-permissions.js";
import {
  decidingRule,
  type PermissionRule,
  type RuleCall,
  type RuleMatch,
  ruleName,
  rulesAbout,
  type Subject,
} from "./rule.js";
import { offerFor, type SessionRule, sessionRuleFor } from "./session-rules.js";
import type { Law, Verdict } from "./verdict.js";

export interface PermissionPolicy {
  readonly mode: PermissionMode;
  readonly preset: PermissionPreset;
  readonly edits: EditPolicy;
  readonly rules: readonly PermissionRule[];
  /** Absolute, with forward slashes. */
  readonly workspace: string;
  /** Oxbow's own folders, absolute. */
  readonly ownFolders: readonly string[];
  /** Folders in them that the model may read: outputs of its own commands. */
  readonly readable?: readonly string[];
  readonly paths: PathPermissionState;
  readonly safeMode: SafeModeState;
}

export function decide(facts: DecisionFacts, policy: PermissionPolicy, session: readonly SessionRule[] = []): Verdict {
  for (const law of [modeDeny, planMode, boundary, blocklist, safeMode, pathPermissions]) {
    const verdict = law(facts, policy);
    if (verdict !== undefined) return verdict;
  }
  const subjects = subjectsOf(facts);
  const rules = rulesAbout(policy.rules, callOf(facts));
  const needs = isContained(facts, policy) && facts.command ? commandNeeds(facts.command, policy) : [];
  const verdicts = subjects.map((subject) => judgeSubject(subject, facts, { policy, rules, session, needs }));
  const strictest = withGuarded(
    verdicts.reduce((worst, next) => (rank(next) > rank(worst) ? next : worst)),
    { facts, policy },
  );
  if (strictest.decision === "deny") return strictest;
  const below = pathVerdict(facts, policy, "below");
  if (below !== undefined) return { ...below, offer: [] };
  if (strictest.decision === "allow") return { ...strictest, ...openingsOf(needs, verdicts) };
  if (strictest.law === "guarded") return { ...strictest, ...openingsOf(needs), offer: [] };
  // A rule that asks would ask again, whatever were accepted now.
  const openings = openingsOf(needs);
  if (verdicts.some(({ decision, law }) => decision === "ask" && law === "rule"))
    return { ...strictest, ...openings, offer: [] };
  const asking = subjects.filter((_, index) => verdicts[index]?.decision === "ask");
  return { ...strictest, ...openings, offer: offerFor(facts, asking) };
}

/**
 * Of several questions, one about a guarded path or one that a rule asks says more. A call counts as one that only reads when all of
 * it does.
 */
const WEIGHTS: Readonly<Partial<Record<Law, number>>> = { guarded: 0.75, rule: 0.5, "quiet preset": -0.5 };

function rank({ decision, law }: Verdict): number {
  return DECISIONS.indexOf(decision) + (WEIGHTS[law] ?? 0);
}

/** What a call consists of; at least one thing. */
function subjectsOf({ tool, args, command, paths }: DecisionFacts): readonly [Subject, ...Subject[]] {
  const subjects: Subject[] =
    command === undefined
      ? paths.map((path) => ({ kind: "path", path }))
      : command.parts.map((part) => ({ kind: "command", part, whole: command }));
  const [first, ...rest] = subjects;
  if (first !== undefined) return [first, ...rest];
  if (command !== undefined) return [{ kind: "text", text: command.text }];
  const unread = tool.set === "command" && typeof args.command === "string";
  return [unread ? { kind: "text", text: String(args.command) } : { kind: "call" }];
}

/* ---- laws about the whole call ---- */

type WholeLaw = (facts: DecisionFacts, policy: PermissionPolicy) => Verdict | undefined;

const modeDeny: WholeLaw = (_facts, { mode }) =>
  mode === "deny"
    ? { decision: "deny", law: "mode deny", decidedBy: "mode deny", reason: "All tools are switched off." }
    : undefined;

const planMode: WholeLaw = ({ tool, command, planMode: planning }) => {
  if (!planning || !tool.mutating || command?.verdict === "read-only") return undefined;
  const reason = `Plan mode only allows reading${command === undefined ? "" : `: ${lower(command.reason)}`}`;
  return { decision: "deny", law: "plan mode", decidedBy: "plan mode", reason: sentence(reason) };
};

const boundary: WholeLaw = ({ paths }) => {
  const path = paths.find(({ place }) => place === "unreachable");
  if (path === undefined) return undefined;
  const reason = `${path.display} is outside the workspace, and this tool works only inside it.`;
  return { decision: "deny", law: "boundary", decidedBy: "workspace boundary", reason, about: path.display };
};

const blocklist: WholeLaw = (facts, policy) => {
  const { command, paths } = facts;
  const { rules } = policy;
  const lifted = (subject: Subject) => {
    const match = decidingRule(rulesAbout(rules, callOf(facts)), facts.args, subject);
    return match?.rule.liftsBlocklist === true;
  };
  const denied = (reason: string, about: string): Verdict => {
    return { decision: "deny", law: "blocklist", decidedBy: "blocklist", reason, about };
  };
  if (command?.verdict === "blocked" && command.parts.length === 0) return denied(command.reason, command.text);
  for (const part of command?.parts ?? []) {
    const own = part.paths.find((path) => isOwn(path, policy));
    const reason = part.verdict === "blocked" ? part.reason : own && `${own.display} is one of Oxbow's own files.`;
    if (reason !== undefined && command !== undefined && !lifted({ kind: "command", part, whole: command }))
      return denied(reason, part.text);
  }
  const own = paths.find((path) => isOwn(path, policy) && !lifted({ kind: "path", path }));
  return own && denied(`${own.display} is one of Oxbow's own files.`, own.display);
};

function isOwn({ absolute, access, own }: PathFacts, { ownFolders, readable = [] }: PermissionPolicy): boolean {
  if (own === true) return true;
  const path = `${absolute.toLowerCase()}/`;
  const isIn = (folder: string) => path.startsWith(`${folder.toLowerCase()}/`);
  return ownFolders.some(isIn) && !(access === "read" && readable.some(isIn));
}

const safeMode: WholeLaw = ({ tool, args, command }, { safeMode: state }) => {
  if (!state.on || tool.set !== "command") return undefined;
  if (command === undefined && typeof args.command !== "string") return undefined;
  const reason = command === undefined ? "The command was not checked." : safeModeRefusal(state, command);
  if (reason === undefined) return undefined;
  return { decision: "deny", law: "safe mode", decidedBy: "safe mode", reason };
};

const pathPermissions: WholeLaw = (facts, policy) => pathVerdict(facts, policy, "here");

function pathVerdict(
  { paths, command }: DecisionFacts,
  { paths: state, workspace, ownFolders }: PermissionPolicy,
  where: "here" | "below",
): Verdict | undefined {
  const own = where === "below" ? ownFolders.map((prefix) => ({ prefix, granted: [] })) : [];
  const entries = placed({ entries: [...state.entries, ...own] }, workspace);
  if (entries.length === 0) return undefined;
  const touched = [...paths, ...(command?.parts ?? []).flatMap((part) => part.paths)];
  for (const path of touched) {
    const entry = where === "here" ? refusingEntry(entries, path) : refusingBelow(entries, path);
    if (entry === undefined) continue;
    const name = `${entry.prefix} ${printAccess(entry.granted)}`;
    const reason =
      where === "here"
        ? `${path.access} is not granted for ${path.display} (${name}).`
        : `${path.display} holds ${entry.prefix}, where ${path.access} is not granted.`;
    const decision = where === "here" ? "deny" : "ask";
    const decidedBy = `path permission ${name}`;
    return { decision, law: "path permission", decidedBy, reason, about: path.display };
  }
  return undefined;
}

/* ---- laws about one thing in it ---- */

interface Grounds {
  readonly policy: PermissionPolicy;
  /** Those about the call. */
  readonly rules: readonly PermissionRule[];
  readonly session: readonly SessionRule[];
  /** What the whole call needs beyond what the sandbox of mode `auto` gives. */
  readonly needs: readonly Need[];
}

function judgeSubject(subject: Subject, facts: DecisionFacts, grounds: Grounds): Verdict {
  const { policy, rules, session, needs } = grounds;
  const about = aboutText(subject);
  const match = decidingRule(rules, facts.args, subject);
  const guarded = guardedPaths(subject);
  if (guarded.length > 0 && !(match !== undefined && (match.decision === "deny" || namesExactly(match)))) {
    return { decision: "ask", law: "guarded", decidedBy: "guarded path", reason: guardedText(guarded), ...about };
  }
  if (match !== undefined) return { ...ruleVerdict(match), ...about };
  if (policy.mode === "allow") {
    const reason = "The permission mode allows everything that no rule denies.";
    return { decision: "allow", law: "mode allow", decidedBy: "mode allow", reason };
  }
  const allowed = sessionRuleFor(session, facts, subject);
  // A yes to the tool as a whole was none to the network or to changes of the repository.
  if (allowed !== undefined && (needs.length === 0 || allowed.draft.kind !== "tool")) {
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
    return { decision: "allow", law: "contained command", decidedBy: "mode auto", reason, ...about };
  }
  const need = subject.kind === "command" ? (partNeed(subject.part, policy) ?? needs[0]) : undefined;
  const reason = isContained(facts, policy) && need !== undefined ? need.reason : trouble;
  const decidedBy = policy.mode === "auto" ? "mode auto" : "mode ask";
  return { decision: "ask", law: "default", decidedBy, reason, ...about };
}

function isContained({ contained, tool }: DecisionFacts, { mode, preset }: PermissionPolicy): boolean {
  return (
    mode === "auto" && preset !== "strict" && contained === true && tool.origin === "built-in" && tool.set === "command"
  );
}

function isContainedCommand(subject: Subject, facts: DecisionFacts, { policy, needs }: Grounds): boolean {
  // What the words of a text do that is not understood, the sandbox holds all the same.
  return isContained(facts, policy) && (subject.kind === "command" || subject.kind === "text") && needs.length === 0;
}

/**
 * What the sandbox is opened for. A person who is asked, or who accepted this command for the session, is told of all of it. A rule
 * is not about the network: it opens the repository only.
 */
function openingsOf(needs: readonly Need[], allowed?: readonly Verdict[]): { readonly openings?: readonly Opening[] } {
  const all = [...new Set(needs.flatMap(({ opens }) => opens))];
  const openings = allowed?.some(({ law }) => law === "rule") ? all.filter((each) => each === "git") : all;
  return openings.length === 0 ? {} : { openings };
}

/** The guarded paths that a part of a call would change. */
function guardedPaths(subject: Subject): readonly PathFacts[] {
  const paths = subject.kind === "path" ? [subject.path] : subject.kind === "command" ? subject.part.paths : [];
  return paths.filter((path) => guardedReason(path) !== undefined);
}

/** By its name too, whatever the caller found out about it. */
function guardedReason({ access, guarded, display }: PathFacts): string | undefined {
  return access === "write" || access === "delete" ? (guarded ?? guardedName(display)) : undefined;
}

function guardedText(paths: readonly PathFacts[]): string {
  const lines = new Set(paths.map((path) => `${path.display} is guarded: ${guardedReason(path)}.`));
  return [...lines].join(" ");
}

/** A rule for this one path or command, which the person wrote into their own profile. */
function namesExactly({ rule, decision, certain }: RuleMatch): boolean {
  const glob = rule.path?.glob ?? rule.command;
  return decision === "allow" && certain && rule.source.scope === "user" && glob?.exact === true;
}

/** With what the file tools may touch when it is allowed: guarded paths, and own files of a blocklist that was lifted. */
function withGuarded(
  verdict: Verdict,
  { facts, policy }: { readonly facts: DecisionFacts; readonly policy: PermissionPolicy },
): Verdict {
  const special = facts.paths.filter((path) => guardedReason(path) !== undefined || isOwn(path, policy));
  if (special.length === 0) return verdict;
  const asked = special.filter((path) => guardedReason(path) !== undefined);
  const reason = verdict.law === "guarded" ? guardedText(asked) : verdict.reason;
  return { ...verdict, reason, guarded: [...new Set(special.map(({ absolute }) => absolute))] };
}

function ruleVerdict({ rule, decision, certain }: RuleMatch): Verdict {
  const name = ruleName(rule);
  const why = rule.reason ?? `A rule says so.`;
  const reason = certain ? why : `${name} may apply: ${why}`;
  return { decision, law: "rule", decidedBy: name, reason, rule };
}

/** Built-in tools that only concern what was allowed before. */
const OWN_BUSINESS: ReadonlySet<string> = new Set(["background"]);

/** Why the quiet preset does not cover it; undefined when it does. */
function quietTrouble(subject: Subject, { tool, command }: DecisionFacts): string | undefined {
  if (tool.origin !== "built-in") return `${tool.name} comes from an extension.`;
  if (subject.kind === "text") return command?.reason ?? "Oxbow cannot parse it.";
  if (subject.kind === "command") {
    const { part, whole } = subject;
    if (part.verdict !== "read-only") return part.reason;
    return whole.plain ? undefined : whole.reason;
  }
  if (OWN_BUSINESS.has(tool.name)) return undefined;
  if (tool.mutating) return `${tool.name} changes something.`;
  if (tool.network === true || tool.set === "web") return `${tool.name} connects to other machines.`;
  if (subject.kind !== "path") return undefined;
  const { path } = subject;
  if (path.place !== "workspace") return `${path.display} is outside the workspace.`;
  return path.sensitive === undefined ? undefined : `${path.display}: ${path.sensitive}.`;
}

function isContainedEdit(subject: Subject, { tool, sandboxed }: DecisionFacts, { edits }: PermissionPolicy): boolean {
  if (!sandboxed || edits === "ask" || tool.origin !== "built-in" || tool.set !== "edit") return false;
  if (subject.kind !== "path" || subject.path.place !== "workspace") return false;
  return subject.path.sensitive === undefined;
}

function callOf({ tool, originator }: DecisionFacts): RuleCall {
  return { tool: tool.name, originator };
}

function aboutText(subject: Subject): { readonly about?: string } {
  if (subject.kind === "command") return { about: subject.part.text };
  if (subject.kind === "path") return { about: subject.path.display };
  return subject.kind === "text" ? { about: subject.text } : {};
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
