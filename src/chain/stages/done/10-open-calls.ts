import type { CreateHook } from "../../services.js";

/** Answers calls that never ran; otherwise the provider would reject the next request. */
export const create: CreateHook =
  () =>
  async (turn): Promise<undefined> => {
    const open = turn.dispatch;
    turn.dispatch = undefined;
    if (open === undefined || open.size === 0) return;
    open.abandon();
    const { results } = await open.finish();
    turn.conversation.push({ role: "user", content: results });
  };
