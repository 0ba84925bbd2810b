/**
 * Who may answer for whom.
 *
 * 1. An agent never answers a question of its own turn, with any name and any setting.
 * 2. A question is answered by a human, unless `--auto-approve` was given.
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

export interface AnswerOptions {
  /** `--auto-approve`: no human is needed. */
  readonly autoApprove?: boolean;
}

export type MayAnswer = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export function mayAnswer(answerer: Answerer, turn: QuestionedTurn, options: AnswerOptions = {}): MayAnswer {
  const isAgent = answerer.identity === "agent";
  if (answerer.id === turn.originator && (isAgent || turn.originatorIdentity === "agent")) {
    return { ok: false, reason: "An agent cannot approve what its own turn asks for. A human has to answer." };
  }
  if (isAgent && options.autoApprove !== true) {
    return { ok: false, reason: "A human has to answer this; the client is attached as an agent." };
  }
  return { ok: true };
}

export const DEFAULT_PERMISSION_TIMEOUT_MS = 60_000;

export interface Answer {
  readonly decision: PermissionDecision;
  readonly decidedBy: string;
  readonly message?: string;
  readonly unanswered?: { readonly afterMs: number };
}

/** What a question becomes when its time is over. The clock is the asker's. */
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

/**
 * Applies `--auto-approve` to a decision: questions are answered with yes, denials stay. So does a question about a guarded path:
 * that needs the user's yes for exactly this path.
 */
export function autoApproved(verdict: Verdict): Verdict {
  if (verdict.decision !== "ask" || verdict.law === "guarded") return verdict;
  const reason = `--auto-approve answered yes. Without it: ${verdict.reason}`;
  return { ...verdict, decision: "allow", decidedBy: "--auto-approve", law: "auto-approve", reason };
}
