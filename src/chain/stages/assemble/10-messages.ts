import type { CreateHook } from "../../services.js";

/** Begins the request with the whole conversation; the hooks after this one add to it. */
export const create: CreateHook = (services) => (turn) => {
  const effort = services.effort?.();
  turn.request = {
    model: turn.model.model,
    system: "",
    messages: [...turn.conversation],
    tools: [],
    cacheKey: turn.bus.session,
    ...(effort !== undefined && { effort }),
    ...(services.maxOutputTokens !== undefined && { maxOutputTokens: services.maxOutputTokens }),
  };
  return "send";
};
