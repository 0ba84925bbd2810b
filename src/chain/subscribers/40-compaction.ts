import type { CreateSubscriber } from "../services.js";

/** The size of the conversation is followed. */
export const create: CreateSubscriber =
  ({ compaction }) =>
  (event) =>
    compaction?.onEvent?.(event);
