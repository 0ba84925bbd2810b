import type { Stage } from "../../../engine/turn.js";
import type { CreateHook } from "../../services.js";

export const create: CreateHook =
  (services) =>
  async (turn): Promise<Stage> => {
    if (turn.request === undefined) return "send";
    const fit = await services.fit?.(turn.model);
    turn.request = { ...turn.request, system: services.systemPrompt(fit?.prompt ?? "full") };
    return "send";
  };
