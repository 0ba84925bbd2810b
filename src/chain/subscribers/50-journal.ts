import type { CreateSubscriber } from "../services.js";

/** Writes every event to the log. */
export const create: CreateSubscriber =
  ({ journal }) =>
  (event) =>
    journal?.record(event);
