import type { CreateSubscriber } from "../services.js";

/** Adds up costs. */
export const create: CreateSubscriber =
  ({ costs }) =>
  (event) =>
    costs?.onEvent?.(event);
