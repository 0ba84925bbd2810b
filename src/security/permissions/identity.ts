/**
 * Decides who may answer for whom.
 *
 * 1. An agent never answers a question of its own turn, with any name and any setting.
 * 2. A question is answered by a human, or by `--auto-approve` if a yes lets nothing out.
 * 3. A question without an answer is denied after a time limit; it never waits forever.
 */
import type { PermissionDecision } from "../../protocol/events.js";
import type { ClientId } from "../../protocol/ids.js";
import type { Identity } from "./facts.js";
import type { Verdict } from "./verdict.js";

export interface Answerer {
  readonly id: ClientId;
  readonly identity: Identity;
}

export interface QuestionedTurn {
  readonly originator: ClientId;
  readonly originatorIdentity: Identity;
}

export type MayAnswer = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export function mayAnswer(answerer: Answerer, turn: QuestionedTurn): MayAnswer {
  const isAgent = answerer.identity === "agent";
  if (answerer.id === turn.originator && (isAgent || turn.originatorIdentity === "agent")) {
    return { ok: false, reason: "An agent cannot approve what its own turn asks for. A human has to answer." };
  }
  if (!isAgent) return { ok: true };
  return { ok: false, reason: "A human has to answer this; the client is attached as an agent." };
}

export const DEFAULT_PERMISSION_TIMEOUT_MS = 60_000;

export interface Answer {
  readonly decision: PermissionDecision;
  readonly decidedBy: string;
  readonly message?: string;
  readonly unanswered?: { readonly afterMs: number };
}

/** Tells what a question becomes when its time is over. The clock is the asker's. */
export function timedOut(timeoutMs: number): Answer {
  const seconds = Math.round(timeoutMs / 1000);
  const message = `Denied automatically after ${seconds} s without an answer. Continue without it, or say what you would have done.`;
  return {
    decision: "deny",
    decidedBy: `permission_timeout (${seconds} s)`,
    message,
    unanswered: { afterMs: timeoutMs },
  };
}

/** Applies `--auto-approve` to a decision: questions whose yes lets nothing out are answered with yes, others stay, and so do denials. */
export function autoApproved(verdict: Verdict): Verdict {
  if (verdict.decision !== "ask") return verdict;
  if (verdict.contained !== true) return { ...verdict, reason: `${verdict.reason} ${NOT_ANSWERED}` };
  const reason = `--auto-approve answered yes. Without it: ${verdict.reason}`;
  return { ...verdict, decision: "allow", decidedBy: "--auto-approve", law: "auto-approve", reason };
}

const NOT_ANSWERED = "--auto-approve answers only what stays in the workspace and its sandbox.";
