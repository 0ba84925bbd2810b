import type { CreateSubscriber } from "../services.js";

/** The recorder of changes learns where turns begin and end. */
export const create: CreateSubscriber =
  ({ undo }) =>
  (event) =>
    undo?.onEvent?.(event);
