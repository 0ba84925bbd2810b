import type { CreateHook } from "../../services.js";

export const create: CreateHook = (services) => (turn) => {
  if (turn.request !== undefined) turn.request = { ...turn.request, system: services.systemPrompt() };
  return "send";
};
