import type { CreateSubscriber } from "../services.js";

/** Shells that wait for commands end with the turn. */
export const create: CreateSubscriber =
  ({ shells }) =>
  (event) =>
    shells?.onEvent?.(event);
