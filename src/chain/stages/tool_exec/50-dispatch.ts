import { TurnFailure } from "../../../engine/cancel.js";
import type { CreateHook } from "../../services.js";

/** Runs the calls and answers each of them in the conversation. */
export const create: CreateHook =
  () =>
  async (turn): Promise<undefined> => {
    if (turn.dispatch === undefined) throw new Error("no calls to run");
    const { results, failure } = await turn.dispatch.finish();
    turn.dispatch = undefined;
    turn.conversation.push({ role: "user", content: results });
    if (failure !== undefined) throw new TurnFailure(failure);
  };
