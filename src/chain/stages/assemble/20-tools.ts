import type { CreateHook } from "../../services.js";

/** Offers the tools, in a fixed order so that the prompt's prefix stays the same. In mode `deny` there are none to offer. */
export const create: CreateHook = (services) => (turn) => {
  if (turn.request !== undefined && services.gate.mode !== "deny") {
    const tools = services.tools
      .list()
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    turn.request = { ...turn.request, tools };
  }
  return "send";
};
