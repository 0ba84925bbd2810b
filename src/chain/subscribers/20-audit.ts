import type { CreateSubscriber } from "../services.js";

/** Records decisions and calls for the audit. */
export const create: CreateSubscriber =
  ({ audit }) =>
  (event) =>
    audit?.onEvent?.(event);
