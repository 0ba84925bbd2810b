import type { CreateHook } from "../../services.js";

/** Offers the tools, in a fixed order so that the prompt's prefix stays the same. In mode `deny` it offers none. */
export const create: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    if (turn.request === undefined || services.gate.mode === "deny") return;
    const fit = await services.fit?.(turn.model);
    const tools = services.tools
      .list()
      .filter(({ name }) => fit?.without.includes(name) !== true)
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    turn.request = { ...turn.request, tools };
  };
