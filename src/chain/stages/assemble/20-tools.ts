import type { Model, Tool } from "../../../engine/ports.js";
import type { CreateHook } from "../../services.js";

/** Offers the tools, in a fixed order so that the prompt's prefix stays the same. In mode `deny` it offers none. */
export const create: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    if (turn.request === undefined || services.gate.mode === "deny") return;
    const fit = await services.fit?.(turn.model);
    const offered = offeredTo(turn.model, services.tools.list(), fit?.without);
    const tools = offered.map(({ name, description, inputSchema, habits, freeform }) => ({
      ...{ name, description, inputSchema },
      ...(freeform !== undefined && { freeform }),
      ...(habits?.names !== undefined && { alsoNamed: habits.names }),
    }));
    turn.request = { ...turn.request, tools };
  };

/** Leaves out what the model failed at, and what another offered tool replaces for it. */
function offeredTo({ model }: Model, tools: readonly Tool[], without: readonly string[] = []): readonly Tool[] {
  const able = tools.filter(({ name }) => !without.includes(name));
  return able.filter(({ replacedBy }) => {
    if (replacedBy === undefined || replacedBy.models?.(model) === false) return true;
    return !able.some(({ name }) => name === replacedBy.tool);
  });
}
