import type { CreateSubscriber } from "../services.js";

/** Decisions and calls go to the audit. */
export const create: CreateSubscriber =
  ({ audit }) =>
  (event) =>
    audit?.onEvent?.(event);
