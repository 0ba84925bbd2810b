import type { CreateSubscriber } from "../services.js";

/** Every event goes to the log. */
export const create: CreateSubscriber =
  ({ journal }) =>
  (event) =>
    journal?.record(event);
