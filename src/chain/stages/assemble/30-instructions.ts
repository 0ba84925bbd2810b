import type { CreateHook } from "../../services.js";

export const create: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    if (turn.request === undefined) return;
    const fit = await services.fit?.(turn.model);
    turn.request = { ...turn.request, system: services.systemPrompt(fit?.prompt ?? "full") };
  };
