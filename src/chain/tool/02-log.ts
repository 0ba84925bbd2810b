import type { CreateToolLink } from "../services.js";

/** Logs every call with its end, never its arguments or its result: they may hold secrets. */
export const create: CreateToolLink =
  ({ log }) =>
  async (call, _context, next) => {
    const outcome = await next(call);
    log("debug", "tools", "call", { tool: call.tool, call: call.call, status: outcome.status });
    return outcome;
  };
