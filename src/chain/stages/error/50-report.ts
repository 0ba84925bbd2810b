import type { CreateHook } from "../../services.js";

/** A failed turn says so in the stream of events before it ends. */
export const create: CreateHook = (services) => (turn) => {
  if (turn.failure !== undefined) {
    turn.bus.publish("Error", { ...turn.failure, turn: turn.id });
    services.log("error", "engine", turn.failure.message, { reason: turn.failure.reason, turn: turn.id });
  }
};
