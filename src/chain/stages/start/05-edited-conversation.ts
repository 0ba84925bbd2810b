import { TurnFailure } from "../../../engine/cancel.js";
import { failure } from "../../../protocol/errors.js";
import type { CreateHook } from "../../services.js";

/** The user may have edited the conversation since the last turn: the turn starts from the edited one. */
export const create: CreateHook =
  ({ journal }) =>
  async (turn): Promise<undefined> => {
    const edited = await journal?.editedConversation().catch((error: Error) => {
      throw new TurnFailure(failure("SessionUnreadable", { session: turn.bus.session, detail: error.message }));
    });
    if (edited !== undefined) turn.conversation.splice(0, turn.conversation.length, ...edited);
  };
