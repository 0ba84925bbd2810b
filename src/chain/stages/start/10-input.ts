import { text } from "../../../protocol/content.js";
import type { CreateHook } from "../../services.js";

/** The user's words become the newest message. */
export const create: CreateHook = (services) => (turn) => {
  services.permissionState.missing = undefined;
  const notice = services.inputNotice?.();
  const content = notice === undefined ? turn.input : [...turn.input, text(notice)];
  turn.conversation.push({ role: "user", content });
  return "assemble";
};
