import type { Tool, ToolCall, ToolContext, ToolLinkContext, ToolOutcome } from "../engine/ports.js";
import type { HeldCall, Unanswered } from "../engine/turn.js";
import { ownText } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { Law, Verdict } from "../security/permissions/verdict.js";
import { reviewVerdict } from "./approval-gate.js";
import type { CreateToolLink, Person } from "./services.js";

const REFUSED = "The user refused this. Do not try it another way; ask if you cannot go on.";

const WITHOUT = "Continue without it, or say what you would have done.";

/** Allows, asks or denies. Without a client that can answer, a question is denied at once. */
export const permission: CreateToolLink = (services) => async (call, context, next) => {
  const { gate, person } = services;
  const judged = stricter(await gate.judge(call, context.definition), context.turn?.held.get(call.call));
  const verdict = services.approvalGates?.length
    ? await reviewVerdict(judged, call, { context, gates: services.approvalGates })
    : judged;
  // A field of the result instead of an event keeps the log small: most calls are like this.
  const { guarded: granted, openings } = verdict;
  const allowed = {
    ...context,
    ...(granted && { granted }),
    ...(openings && { openings }),
    ask: lateQuestion(call, { person, context }),
  };
  if (verdict.decision === "allow") {
    const narrowed = {
      ...allowed,
      ...(verdict.law === "quiet preset" && { unasked: true as const }),
      ...(APPROVING.has(verdict.law) && { approved: true as const }),
    };
    return { ...(await next(call, narrowed)), decidedBy: verdict.decidedBy };
  }
  if (verdict.decision === "deny") {
    person.record(call.call, call.tool, { decision: "deny", decidedBy: verdict.decidedBy, message: verdict.reason });
    const { adviceOn, denialText } = await import("../security/permissions/explain.js");
    return denied(
      denialText(verdict, call.args.command),
      failure("PermissionDenied", { tool: call.tool, client: verdict.decidedBy, advice: adviceOn(verdict) }),
    );
  }
  if (!person.present()) {
    const missed = await unanswered(call, verdict);
    context.turn?.unanswered.push(missed);
    const message = verdict.reason;
    person.record(call.call, call.tool, { decision: "deny", decidedBy: "no terminal to ask on", message });
    const { reasonIn } = await import("../security/permissions/explain.js");
    return unanswerable(missed, reasonIn(verdict, call.args.command));
  }
  const answer = await person.ask(await questionOf(call, context.definition, verdict), context.signal);
  if (context.signal.aborted) return { status: "cancelled", content: [ownText("Cancelled before the user answered.")] };
  if (answer.unanswered) {
    const ms = answer.unanswered.afterMs;
    context.turn?.unanswered.push({ ...(await unanswered(call, verdict)), afterMs: ms });
    const late = failure("PermissionTimeout", { tool: call.tool, timeout: Math.round(ms / 1000) });
    return denied(answer.message ?? `Denied: there was no answer. ${WITHOUT}`, late);
  }
  if (answer.decision === "deny") {
    const cause = failure("PermissionDenied", { tool: call.tool, client: "the user", advice: ASK_AGAIN });
    return denied(`${REFUSED}${answer.message ? ` The user says: ${answer.message}` : ""}`, cause);
  }
  if (verdict.law !== "guarded" && verdict.law !== "hook") gate.remember(call, answer.decision, { verdict });
  return next(call, { ...allowed, approved: true });
};

const ASK_AGAIN = "To allow it, try again and answer yes, or add a rule to the profile.";

/** By these a person allowed the call itself. */
const APPROVING: ReadonlySet<Law> = new Set<Law>(["rule", "mode allow", "session"]);

/** Asks about what a call turned out to do. Without a person the answer is no. */
export function lateQuestion(
  { call, tool }: Pick<ToolCall, "call" | "tool">,
  {
    person,
    context: { signal, turn, definition },
  }: {
    readonly person: Person;
    readonly context: Pick<ToolLinkContext, "signal" | "turn"> & Partial<Pick<ToolLinkContext, "definition">>;
  },
): NonNullable<ToolContext["ask"]> {
  return async ({ isOffer, onNo, ...about }) => {
    if (!person.present()) {
      if (!isOffer) turn?.unanswered.push({ tool, about: about.summary });
      return false;
    }
    // The arguments say what was asked before, and the command has run.
    const answer = await person.ask({ call, tool, ...kindOf(definition), args: {}, once_only: true, ...about }, signal);
    if (signal.aborted || answer.unanswered !== undefined) return false;
    if (answer.decision === "deny") onNo?.();
    return answer.decision !== "deny";
  };
}

function unanswerable({ tool, about }: Unanswered, reason: string): ToolOutcome {
  const how = "run it on a terminal, or allow it with a rule or --permission-mode allow";
  return denied(
    `Denied: ${tool} needs the user's permission, and the user cannot answer here. ${reason} ${WITHOUT}`,
    failure("PermissionUnanswerable", { tool, about, how }),
  );
}

function kindOf(tool: Tool | undefined) {
  return tool?.kind === undefined ? {} : { tool_kind: tool.kind };
}

/** Its code loads with the first question: most runs have none. */
async function questionOf({ call, tool, args }: ToolCall, definition: Tool, verdict: Verdict) {
  const { law, contained, once, offer = [] } = verdict;
  const [{ describeCall }, { draftText, lastingRules }, { ruleWords }, { previewCall }, { reasonIn }] =
    await Promise.all([
      import("../security/permissions/facts.js"),
      import("../security/permissions/session-rules.js"),
      import("../security/permissions/lasting-rule.js"),
      import("../security/permissions/preview.js"),
      import("../security/permissions/explain.js"),
    ]);
  const isGuarded = law === "guarded";
  const own = definition.extension === undefined ? definition.describe : undefined;
  const preview = isGuarded ? previewCall(args) : undefined;
  return {
    ...{ call, tool, ...kindOf(definition), args, reason: reasonIn(verdict, args.command) },
    summary: own?.(args) ?? describeCall(tool, args),
    offer: offer.map(draftText),
    always: offer.flatMap(lastingRules).map(ruleWords),
    ...((isGuarded || once) && { once_only: true as const }),
    ...(contained && { contained }),
    ...(preview !== undefined && { preview }),
  };
}

/** The verdict, or what a hook asks for if that is stricter. */
function stricter(verdict: Verdict, held: HeldCall | undefined): Verdict {
  if (held === undefined || verdict.decision === "deny") return verdict;
  if (held.decision === "ask" && verdict.decision === "ask") return verdict;
  const { guarded, openings } = verdict;
  const kept = { ...(guarded && { guarded }), ...(openings && { openings }) };
  return { ...kept, decision: held.decision, law: "hook", decidedBy: held.by, reason: held.reason, offer: [] };
}

/** Tells how the user can allow it next time. */
async function unanswered({ tool, args }: ToolCall, verdict: Verdict): Promise<Unanswered> {
  const { offer = [], byFlag, law, guarded = [] } = verdict;
  const [{ describeCall }, { lastingRules }, { inlineRule, literal, ruleWords }] = await Promise.all([
    import("../security/permissions/facts.js"),
    import("../security/permissions/session-rules.js"),
    import("../security/permissions/lasting-rule.js"),
  ]);
  const about = describeCall(tool, args);
  if (law === "guarded") {
    // No flag and no mode allows it: only a rule of a settings file, for a file tool that changes it or a command that runs it.
    const { command } = args;
    const runs = typeof command === "string" && guarded.length === 0 && /^[\w ./=:@%+,-]+$/.test(command);
    const changed = command === undefined ? guarded.map((path) => ({ path: literal(path) })) : [];
    const rules = runs ? [{ command }] : changed;
    return { tool, about, toml: rules.map((rule) => inlineRule({ tool, ...rule })) };
  }
  const [rules, byFlags] = [offer, byFlag ?? offer].map((drafts) => drafts.flatMap(lastingRules));
  return { tool, about, toml: rules?.map(inlineRule) ?? [], words: byFlags?.map(ruleWords) ?? [] };
}

/** The reason is for programs that read the events; the text is for the model. */
function denied(message: string, { reason, message: detail }: Failure): ToolOutcome {
  return { status: "denied", content: [ownText(message)], details: { failure: { reason, message: detail } } };
}
