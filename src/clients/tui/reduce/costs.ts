/** The costs of the turn and the session by provider, and how full the model's window is. */
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
}

const NOTHING: Spent = { usd: 0, known: true, byProvider: {} };

export const NO_COSTS: CostState = { turn: NOTHING, session: NOTHING, contextUsed: 0 };

export function newTurn(costs: CostState): CostState {
  return { ...costs, turn: NOTHING };
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

type Paid = Pick<EventPayloads["CostIncremented"], "provider" | "cost">;

function add({ usd, known, byProvider }: Spent, { provider, cost }: Paid): Spent {
  if (cost === undefined) return { usd, known: false, byProvider };
  const before = byProvider[provider] ?? 0;
  return {
    usd: roundUsd(usd + cost.usd),
    known,
    byProvider: { ...byProvider, [provider]: roundUsd(before + cost.usd) },
  };
}
