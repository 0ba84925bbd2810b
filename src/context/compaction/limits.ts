/** Describes how full a model's window may become, and how much of a conversation then stays unchanged. All in tokens. */

export interface ModelLimits {
  /** The tokens it can read. */
  readonly reads: number;
  /** The longest answer. */
  readonly writes: number;
}

/** Typical answers are shorter; no larger part of the window is reserved. */
const LONG_ANSWER = 32_000;
const MOST_KEPT = 20_000;
const SUMMARY = 8_000;

/** From this size on the conversation is compacted: the configured share of the window, if that leaves room for an answer. */
export function fullAt({ reads, writes }: ModelLimits, share: number): number {
  const answer = Math.min(writes, LONG_ANSWER, reads / 4);
  return Math.floor(Math.min(reads * share, reads - answer));
}

/** Tells how much of the newest messages stays in a conversation of this size. */
export function keptTokens(conversation: number, full = Number.POSITIVE_INFINITY): number {
  return Math.floor(Math.min(MOST_KEPT, full / 4, conversation / 4));
}

/** The longest summary that Oxbow requests. */
export function summaryTokens({ reads, writes }: ModelLimits): number {
  return Math.max(256, Math.floor(Math.min(SUMMARY, writes, reads / 4)));
}

/** Tells how much of a conversation fits into one request for a summary, with room for the prompt, an earlier summary and an error of a fifth. */
export function transcriptRoom(limits: ModelLimits): number {
  return Math.max(500, Math.floor((limits.reads - 2 * summaryTokens(limits) - 700) * 0.8));
}
