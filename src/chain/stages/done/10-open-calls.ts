import type { CreateHook } from "../../services.js";

/** Calls that were asked for but never run still need their answer, or the next request would be refused by the provider. */
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
