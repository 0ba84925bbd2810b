import type { Turn } from "../../../engine/turn.js";
import type { Message } from "../../../protocol/content.js";
import type { ChainServices, CreateHook } from "../../services.js";

/** Starts the request with the whole conversation; later hooks add to it. */
export const create: CreateHook = (services) => (turn) => {
  const messages = services.outside?.asSent(turn.conversation) ?? [...turn.conversation];
  // Only the first result from outside needs to wait.
  if (messages instanceof Promise) return messages.then((ready) => begin(turn, ready, services));
  return begin(turn, messages, services);
};

function begin(
  turn: Turn,
  messages: readonly Message[],
  { effort: wanted, maxOutputTokens }: ChainServices,
): undefined {
  const effort = wanted?.();
  turn.request = {
    model: turn.model.model,
    system: "",
    messages,
    tools: [],
    cacheKey: turn.bus.session,
    ...(effort !== undefined && { effort }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
}
