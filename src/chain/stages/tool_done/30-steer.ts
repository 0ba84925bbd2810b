import { withOrigin } from "../../../base/message-origin.js";
import type { CreateHook } from "../../services.js";

/** Sends input from during the turn to the model with the results of its calls. */
export const create: CreateHook = () => (turn) => {
  for (const { content, from } of turn.takeSteering()) {
    const event = turn.bus.publish("InputSteered", { turn: turn.id, input: content, from });
    turn.conversation.push(withOrigin({ role: "user", content }, event));
  }
};
