/** Describes what today's rules would have decided about the calls of a stored session (`oxbow permissions replay SESSION`). */
import { shorten } from "../../base/cap-text.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import { decide, type PermissionPolicy } from "./decide.js";
import { type DecisionFacts, describeCall } from "./facts.js";
import type { Verdict } from "./verdict.js";

export interface ReplayedDecision {
  readonly call: CallId;
  readonly summary: string;
  readonly past: {
    readonly decision: "allowed" | "denied" | "unknown";
    /** Says whether the user was asked. */
    readonly asked: boolean;
    readonly decidedBy?: string;
  };
  /** Undefined when the tool does not exist today. */
  readonly now: Verdict | undefined;
  /** It was let through then and would not be without an answer now, or the other way round. */
  readonly changed: boolean;
}

/** The facts of a call as far as they can be known today; undefined for a tool that no longer exists. */
export type FactsOfCall = (tool: string, args: JsonObject) => Promise<DecisionFacts | undefined>;

export async function replayDecisions(
  events: Iterable<Envelope> | AsyncIterable<Envelope>,
  policy: PermissionPolicy,
  factsOf: FactsOfCall,
): Promise<readonly ReplayedDecision[]> {
  const calls = new Map<CallId, { tool: string; args: JsonObject; past: ReplayedDecision["past"] }>();
  for await (const event of events) {
    if (event.kind === "ToolCallStarted") {
      const { call, tool, args } = event.payload;
      calls.set(call, { tool, args, past: { decision: "unknown", asked: false } });
      continue;
    }
    const seen =
      event.kind === "PermissionRequested" || event.kind === "PermissionResolved" || event.kind === "ToolResult"
        ? calls.get(event.payload.call)
        : undefined;
    if (seen !== undefined) seen.past = learn(seen.past, event);
  }
  const replayed: ReplayedDecision[] = [];
  for (const [call, { tool, args, past }] of calls) {
    const facts = await factsOf(tool, args);
    const now = facts && decide(facts, policy);
    replayed.push({ call, summary: describeCall(tool, args), past, now, changed: differs(past, now) });
  }
  return replayed;
}

function learn(past: ReplayedDecision["past"], event: Envelope): ReplayedDecision["past"] {
  switch (event.kind) {
    case "PermissionRequested":
      return { ...past, asked: true };
    case "PermissionResolved": {
      const decision = event.payload.decision === "deny" ? "denied" : "allowed";
      return { ...past, decision, decidedBy: event.payload.decided_by };
    }
    case "ToolResult": {
      if (past.decision !== "unknown") return past;
      const { status } = event.payload;
      if (status === "denied") return { ...past, decision: "denied" };
      return status === "ok" || status === "error" || status === "timeout" ? { ...past, decision: "allowed" } : past;
    }
    default:
      return past;
  }
}

function differs(past: ReplayedDecision["past"], now: Verdict | undefined): boolean {
  if (now === undefined || past.decision === "unknown") return false;
  if (past.asked) return now.decision !== "ask";
  return (past.decision === "allowed") !== (now.decision === "allow");
}

const NOW: Readonly<Record<Verdict["decision"], string>> = { allow: "allow", ask: "ask", deny: "deny" };

/** One line for each call, the ones that differ marked with `*`, and a sum. */
export function replayText(replayed: readonly ReplayedDecision[]): string {
  if (replayed.length === 0) return "The session has no tool calls.";
  const rows = replayed.map(({ summary, past, now, changed }) => {
    const before = `${past.asked ? "asked, " : ""}${past.decision}${past.decidedBy === undefined ? "" : ` (${past.decidedBy})`}`;
    const present = now === undefined ? "no such tool" : `${NOW[now.decision]} (${now.decidedBy})`;
    return { mark: changed ? "*" : " ", summary: short(summary), before, present };
  });
  const width = Math.max(...rows.map(({ summary }) => summary.length));
  const beforeWidth = Math.max(...rows.map(({ before }) => before.length));
  const lines = rows.map(
    ({ mark, summary, before, present }) =>
      `${mark} ${summary.padEnd(width)}  ${before.padEnd(beforeWidth)}  now: ${present}`,
  );
  const changed = replayed.filter((each) => each.changed).length;
  const sum =
    changed === 0
      ? "Today's rules make the same decisions."
      : `${changed} of ${replayed.length} decisions would differ today.`;
  return [...lines, "", sum].join("\n");
}

function short(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ");
  return shorten(flat, 70);
}
