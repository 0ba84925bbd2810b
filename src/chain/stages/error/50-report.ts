import type { CreateHook } from "../../services.js";

/** Publishes the failure of a turn before it ends. */
export const create: CreateHook = (services) => (turn) => {
  if (turn.failure !== undefined) {
    turn.bus.publish("Error", { ...turn.failure, turn: turn.id });
    services.log("error", "engine", turn.failure.message, { reason: turn.failure.reason, turn: turn.id });
  }
};
