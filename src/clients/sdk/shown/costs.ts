/** The costs of the turn and the session by provider, and how full the model's window is. */
import { estimateTokens } from "../../../base/estimate-tokens.js";
import type { EventPayloads } from "../../../protocol/events.js";
import { roundUsd } from "../../../protocol/usage.js";

export interface Spent {
  readonly usd: number;
  /** False if a call has no known price. */
  readonly known: boolean;
  readonly byProvider: Readonly<Record<string, number>>;
}

export interface CostState {
  readonly turn: Spent;
  readonly session: Spent;
  /** The tokens of the conversation according to the last answer. */
  readonly contextUsed: number;
  /** The answer that streams. */
  readonly streaming?: Streaming;
}

/** Describes what an answer costs at least so far, by an estimate of its tokens. */
interface Streaming {
  readonly provider: string;
  readonly usd: number;
  /** The amount on the screen, which changes less often. */
  readonly shownUsd: number;
  readonly shownAt: number;
}

const NOTHING: Spent = { usd: 0, known: true, byProvider: {} };

export const NO_COSTS: CostState = { turn: NOTHING, session: NOTHING, contextUsed: 0 };

/** An amount that changes faster cannot be read. */
const SHOWN_EVERY_MS = 250;

export function newTurn({ session, contextUsed }: CostState): CostState {
  return { turn: NOTHING, session, contextUsed };
}

export interface StreamedText {
  readonly text: string;
  /** `provider:model` */
  readonly model: string;
  /** US dollars per million tokens of output; undefined if unknown. */
  readonly price: number | undefined;
  readonly now: number;
}

export function addStreamed(costs: CostState, { text, model, price, now }: StreamedText): CostState {
  if (price === undefined) return costs;
  const provider = model.slice(0, Math.max(0, model.indexOf(":")));
  const before = costs.streaming ?? { provider, usd: 0, shownUsd: 0, shownAt: Number.NEGATIVE_INFINITY };
  const usd = before.usd + (estimateTokens(text) * price) / 1_000_000;
  const isDue = now - before.shownAt >= SHOWN_EVERY_MS;
  return { ...costs, streaming: { ...before, usd, ...(isDue && { shownUsd: usd, shownAt: now }) } };
}

/** With the answer that streams: the sums are then the least that the turn and the session cost. */
export function shownCosts({ turn, session, streaming }: CostState): Pick<CostState, "turn" | "session"> {
  if (streaming === undefined || streaming.shownUsd === 0) return { turn, session };
  const paid = { provider: streaming.provider, cost: { usd: streaming.shownUsd } };
  return { turn: { ...add(turn, paid), known: false }, session: { ...add(session, paid), known: false } };
}

export function addCosts(costs: CostState, event: EventPayloads["CostIncremented"]): CostState {
  const { usage, purpose, abandoned } = event;
  const isAnswer = purpose === undefined && !abandoned;
  const used = usage.input + usage.cache_read + usage.cache_write + usage.output;
  return {
    turn: add(costs.turn, event),
    session: add(costs.session, event),
    contextUsed: isAnswer && used > 0 ? used : costs.contextUsed,
  };
}

/** The model calls of a subagent are in its own session; its end has their sum. */
export function addSubagent(costs: CostState, { usage, cost }: EventPayloads["SubagentEnded"]): CostState {
  if (usage.input + usage.output + usage.cache_read + usage.cache_write === 0) return costs;
  const paid = { provider: "subagents", ...(cost !== undefined && { cost }) };
  return { ...costs, turn: add(costs.turn, paid), session: add(costs.session, paid) };
}

interface Paid {
  readonly provider: string;
  readonly cost?: { readonly usd: number };
}

function add({ usd, known, byProvider }: Spent, { provider, cost }: Paid): Spent {
  if (cost === undefined) return { usd, known: false, byProvider };
  const before = byProvider[provider] ?? 0;
  return {
    usd: roundUsd(usd + cost.usd),
    known,
    byProvider: { ...byProvider, [provider]: roundUsd(before + cost.usd) },
  };
}
