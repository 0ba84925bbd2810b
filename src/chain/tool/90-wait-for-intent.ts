import type { CreateToolLink } from "../services.js";

/** The last step before a tool runs: the intent is on disk, or the call does not start. */
export const create: CreateToolLink =
  ({ outside }) =>
  async (call, context, next) => {
    if (context.intended !== undefined) await context.intended;
    const running = next(call);
    // Loaded while the tool runs: the next request does not wait for it and still gets its errors.
    if (outside?.wraps === true && context.definition.ownResults !== true) outside.wrapper().catch(() => {});
    return running;
  };
