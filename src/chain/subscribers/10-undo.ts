import type { CreateSubscriber } from "../services.js";

/** Tells undo where turns begin and end. */
export const create: CreateSubscriber =
  ({ undo }) =>
  (event) =>
    undo?.onEvent?.(event);
