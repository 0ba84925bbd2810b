import { notifyWindow } from "../../notify-window.js";
import type { CreateHook } from "../../services.js";

/** Between two calls of a long turn: warns when the conversation almost fills the context window. */
export const create: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    await notifyWindow(turn, services);
  };
