/**
 * Extensions that review a call after the permission rules have decided about it.
 *
 * 1. What Oxbow denies stays denied.
 * 2. The strictest of several reviews counts: deny, then ask, then allow. An allow changes nothing if there is no question.
 * 3. An allow answers only an ordinary question. The user decides about a guarded path, a rule that asks, a wider sandbox and a run
 *    outside of it.
 */
import type { ToolCall, ToolContext } from "../engine/ports.js";
import type { ApprovalGate, GateContext, GateReview } from "../feature/part.js";
import type { Verdict } from "../security/permissions/verdict.js";

export type { ApprovalGate, GateContext, GateReview } from "../feature/part.js";

const STRICTNESS: readonly GateReview["decision"][] = ["allow", "ask", "deny"];

export async function reviewVerdict(
  verdict: Verdict,
  call: ToolCall,
  {
    context,
    gates,
  }: {
    readonly context: ToolContext & Pick<GateContext, "definition" | "turn">;
    readonly gates: readonly ApprovalGate[];
  },
): Promise<Verdict> {
  if (verdict.decision === "deny") return verdict;
  const { definition, signal, turn } = context;
  const about = { definition, verdict, signal, ...(turn !== undefined && { turn }) };
  const reviews = (await Promise.all(gates.map((gate) => gate.review(call, about)))).filter(
    (each) => each !== undefined,
  );
  const [first, ...others] = reviews;
  if (first === undefined) return verdict;
  return withReview(verdict, others.reduce(stricter, first));
}

function stricter(one: GateReview, other: GateReview): GateReview {
  return STRICTNESS.indexOf(other.decision) > STRICTNESS.indexOf(one.decision) ? other : one;
}

function withReview(verdict: Verdict, { decision, by, reason }: GateReview): Verdict {
  const reviewed = { ...verdict, decision, decidedBy: by, law: "hook" as const, reason };
  if (decision === "deny") return reviewed;
  if (decision === "ask") return verdict.decision === "ask" ? verdict : { ...reviewed, offer: [] };
  return verdict.decision === "ask" && isOrdinary(verdict) ? reviewed : verdict;
}

/** A question that the user may also answer for the whole session. */
function isOrdinary({ law, decidedBy, guarded = [], openings = [] }: Verdict): boolean {
  return law === "default" && decidedBy !== "sandbox" && guarded.length === 0 && openings.length === 0;
}
