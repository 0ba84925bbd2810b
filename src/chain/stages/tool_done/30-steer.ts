import type { CreateHook } from "../../services.js";

/** What a person said while the turn ran goes to the model with the results of its calls (feature L10). */
export const create: CreateHook = () => (turn) => {
  for (const { content, from } of turn.takeSteering()) {
    turn.bus.publish("InputSteered", { turn: turn.id, input: content, from });
    turn.conversation.push({ role: "user", content });
  }
  return "assemble";
};
