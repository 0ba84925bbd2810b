import type { CreateHook } from "../../services.js";

/** The user's words become the newest message. */
export const create: CreateHook = (services) => (turn) => {
  services.permissionState.missing = undefined;
  turn.conversation.push({ role: "user", content: turn.input });
  return "assemble";
};
