import type { CreateSubscriber } from "../services.js";

/** Tracks the size of the conversation. */
export const create: CreateSubscriber =
  ({ compaction }) =>
  (event) =>
    compaction?.onEvent?.(event);
