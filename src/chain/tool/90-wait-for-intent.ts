import type { CreateToolLink } from "../services.js";

/** The last moment before a tool runs: what must be on the disk by then is there, or the call does not begin. */
export const create: CreateToolLink =
  ({ outside }) =>
  async (call, context, next) => {
    if (context.intended !== undefined) await context.intended;
    const running = next(call);
    // Loaded while the tool runs: the next request does not wait for it, and hears of what goes wrong.
    if (outside?.wraps === true && context.definition.ownResults !== true) outside.wrapper().catch(() => {});
    return running;
  };
