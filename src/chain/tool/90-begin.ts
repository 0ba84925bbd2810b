import type { CreateToolLink } from "../services.js";

/** The last moment before a tool runs: what must be on the disk by then is there, or the call does not begin. */
export const create: CreateToolLink = () => async (call, context, next) => {
  if (context.intended !== undefined) await context.intended;
  return next(call);
};
