import type { CreateSubscriber } from "../services.js";

/** Costs are added up. */
export const create: CreateSubscriber =
  ({ costs }) =>
  (event) =>
    costs?.onEvent?.(event);
