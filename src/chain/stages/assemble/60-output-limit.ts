import type { Turn } from "../../../engine/turn.js";
import { estimateRequestTokens } from "../../../providers/tokens/estimate-request.js";
import type { ChainServices, CreateHook } from "../../services.js";

/** Longer answers are rarely meant, and each token of the limit is taken from the window. */
const MOST_OUTPUT = 32_000;
/** The largest budget for thinking, which some models get besides the limit. */
const MOST_THINKING = 16_384;
const LEAST_OUTPUT = 1024;
/** The catalogue is loaded after the first request, unless that is so long that the window could end. */
const LONG_PROMPT = 60_000;
/** The count of the prompt is an estimate. */
const MARGIN = 1.15;

/** Sets the length of an answer where the service needs one: what the model writes, and what is left of the window. */
export const create: CreateHook =
  ({ costs }) =>
  (turn) => {
    const { request, model } = turn;
    if (model.needsOutputLimit !== true || request === undefined || request.maxOutputTokens !== undefined) return;
    if (costs === undefined) return;
    const prompt = estimateRequestTokens(request, model.family);
    const isFirst = !turn.conversation.some(({ role }) => role === "assistant");
    return isFirst && prompt < LONG_PROMPT ? undefined : limit(turn, prompt, costs);
  };

async function limit(turn: Turn, prompt: number, costs: NonNullable<ChainServices["costs"]>): Promise<undefined> {
  const facts = await costs.facts(turn.model);
  if (facts.assumed || turn.request === undefined) return;
  const thinking = turn.request.effort === undefined ? 0 : MOST_THINKING;
  const left = facts.context - Math.ceil(prompt * MARGIN);
  const most = Math.min(MOST_OUTPUT, facts.output - thinking, left - thinking);
  turn.request = { ...turn.request, maxOutputTokens: Math.max(LEAST_OUTPUT, most) };
}
