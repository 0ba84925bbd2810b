/**
 * Allow, ask or deny. Pure: facts, policy and session in, verdict out.
 *
 * These laws are applied to a call in this order; the first one that applies decides.
 *
 *  1. Mode `deny` denies.
 *  2. A file that the tool itself cannot reach is denied: a yes would change nothing.
 *  3. The blocklist denies, in every mode: programs that show credentials, and Oxbow's own files. Only a rule that the user wrote
 *     in the profile with `lift_blocklist` passes, and only if law 7 would follow it.
 *  4. In plan mode only what reads passes: tools that change nothing, and commands that are known to only read.
 *  5. Safe mode denies commands that are not on its list.
 *  6. Path permissions deny what they do not grant. Where that, or one of Oxbow's own folders, lies somewhere below what is searched,
 *     what the laws after this one would allow is asked about.
 *
 * From here a call is taken apart: each simple command of a command text, or each file of a tool that touches files, is decided by
 * itself, and the strictest decision is the call's. So an allow has to cover everything, and a deny or ask needs one thing only.
 *
 * From here on a guarded path (`../guard-list`) that would change or run asks, even if rules, mode or session allow it. Only a rule of
 * the person's own profile that names exactly this path, or exactly the command that runs it, allows it. No rule lets a command
 * change one. A rule that denies still denies.
 *
 *  7. Rules, by priority, then deny before ask before allow, then the more specific. A rule that asks, asks every time.
 *  8. Mode `allow` allows.
 *  9. What the user allowed for this session is allowed, except a command that deletes the whole workspace, or what its words do not show.
 * 10. The quiet preset, unless strict, allows built-in tools that change nothing and stay in the workspace away from sensitive
 *     files and the network, and commands that are known to only read.
 * 11. Where a sandbox works, edits inside the workspace are allowed, except files that other programs run or obey, and unless
 *     the profile says `edits = "ask"` or the mode is `review`.
 * 12. In the modes `auto` and `review`, unless strict, a command that the sandbox contains is allowed, unless its words show that the text needs more than
 *     the sandbox gives, or deletes much of the workspace.
 * 13. Everything else asks.
 *
 * The arguments of a call are data: they are compared with globs and paths, and nothing in them can name a rule, a mode or an
 * identity. Anything missing or not understood counts against the call.
 */
import { commandNeeds, type Need, type Opening, partNeed } from "./contained/needs.js";
import { DECISIONS, type DecisionFacts, type PathFacts } from "./facts.js";
import { withGuarded } from "./guarded-paths.js";
import type { PermissionPolicy } from "./policy.js";
import { callOf, rulesAbout, type Subject } from "./rule.js";
import { offerFor, type SessionRule } from "./session-rules.js";
import { isContained, judgeSubject } from "./subject-laws.js";
import type { Law, Verdict } from "./verdict.js";
import { pathVerdict, WHOLE_LAWS } from "./whole-laws.js";

export type { PermissionPolicy } from "./policy.js";

export function decide(facts: DecisionFacts, policy: PermissionPolicy, session: readonly SessionRule[] = []): Verdict {
  for (const law of WHOLE_LAWS) {
    const verdict = law(facts, policy);
    if (verdict !== undefined) return verdict;
  }
  const subjects = subjectsOf(facts);
  const rules = rulesAbout(policy.rules, callOf(facts));
  const shown = facts.command ? commandNeeds(facts.command, policy) : [];
  const isEachAsked = shown.some(({ once }) => once);
  const needs = isContained(facts, policy) ? shown : [];
  const verdicts = subjects.map((subject) =>
    judgeSubject(subject, facts, { policy, rules, session: isEachAsked ? [] : session, needs }),
  );
  const strictest = withGuarded(
    verdicts.reduce((worst, next) => (rank(next) > rank(worst) ? next : worst)),
    { facts, policy },
  );
  if (strictest.decision === "deny") return strictest;
  const below = pathVerdict(facts, policy, "below");
  if (below !== undefined) return { ...below, offer: [] };
  const isNetworked = (subject: Subject) => needsNetwork(subject, policy);
  if (strictest.decision === "allow") {
    const shut = verdicts.some(({ law, rule }, index) => {
      return law === "rule" && rule?.network !== true && isNetworked(subjects[index] ?? subjects[0]);
    });
    return { ...strictest, ...openingsOf(needs, { verdicts, shut, sandboxed: facts.sandboxed }) };
  }
  if (strictest.law === "guarded") return { ...strictest, ...openingsOf(needs), offer: [] };
  const question = {
    ...strictest,
    ...openingsOf(needs),
    ...(needs.length > 0 && { beyond: true as const }),
    ...(staysInside(facts, shown) && { contained: true as const }),
  };
  const asking = subjects.filter((_, index) => verdicts[index]?.decision === "ask");
  const offer = offerFor(facts, asking, isNetworked);
  // A rule that asks would ask again, whatever the answer now. A flag of the command line comes before it.
  const byRule = verdicts.filter(({ decision, law }) => decision === "ask" && law === "rule");
  if (byRule.length === 0 && !isEachAsked) return { ...question, offer };
  const isYours = byRule.every(({ rule }) => rule?.source.scope === "user");
  const once = isEachAsked && { once: true as const };
  return { ...question, ...once, offer: [], ...(isYours && { byFlag: offer }) };
}

function needsNetwork(subject: Subject, policy: PermissionPolicy): boolean {
  return subject.kind === "command" && partNeed(subject.part, policy)?.opens.includes("network") === true;
}

/** Tells whether a yes lets nothing out: the tight sandbox holds the command unopened, or the workspace holds the edit. */
function staysInside({ tool, paths, contained }: DecisionFacts, needs: readonly Need[]): boolean {
  if (tool.origin !== "built-in") return false;
  if (tool.set === "command") return contained === true && needs.every(({ opens }) => opens.length === 0);
  const isOrdinary = ({ place, sensitive }: PathFacts) => place === "workspace" && sensitive === undefined;
  return tool.set === "edit" && paths.length > 0 && paths.every(isOrdinary);
}

/**
 * Of several questions, one about a guarded path or one that a rule asks says more. A call counts as one that only reads when all of
 * it does.
 */
const WEIGHTS: Readonly<Partial<Record<Law, number>>> = { guarded: 0.75, rule: 0.5, "quiet preset": -0.5 };

function rank({ decision, law }: Verdict): number {
  return DECISIONS.indexOf(decision) + (WEIGHTS[law] ?? 0);
}

/** Tells what a call consists of; at least one thing. */
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

interface Allowed {
  readonly verdicts: readonly Verdict[];
  /** A part that needs the network is allowed by a rule that does not open it. */
  readonly shut: boolean;
  readonly sandboxed: boolean;
}

/**
 * Tells what the sandbox is opened for. The question names all of it. A rule opens the repository and the secret files that the command names,
 * and the network only if it says so.
 */
function openingsOf(needs: readonly Need[], allowed?: Allowed): { readonly openings?: readonly Opening[] } {
  const all = needs.flatMap(({ opens }) => opens);
  const byRule = allowed?.verdicts.filter(({ law }) => law === "rule") ?? [];
  // The words of a script do not show that it needs the network; rules for all of the text do.
  const isOpen =
    allowed?.sandboxed && byRule.length > 0 && allowed.verdicts.every(({ rule }) => rule?.network === true);
  const kept =
    byRule.length === 0 ? all : all.filter((each) => isOfRule(each) || (each === "network" && !allowed?.shut));
  const openings = [...new Set<Opening>([...kept, ...(isOpen ? (["network"] as const) : [])])];
  return openings.length === 0 ? {} : { openings };
}

function isOfRule(opening: Opening): boolean {
  return opening === "git" || opening === "secrets";
}
