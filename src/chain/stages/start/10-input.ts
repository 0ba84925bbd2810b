import { withOrigin } from "../../../base/message-origin.js";
import { inputMessage } from "../../../protocol/content.js";
import type { CreateHook } from "../../services.js";

/** Adds the user's input as the newest message. */
export const create: CreateHook = () => (turn) => {
  turn.conversation.push(withOrigin(inputMessage(turn.input, turn.notice), turn.firstEvent));
};
