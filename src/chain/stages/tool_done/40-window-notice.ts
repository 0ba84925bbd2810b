import { notifyWindow } from "../../notify-window.js";
import type { CreateHook } from "../../services.js";

/** Between two calls of a long turn: says when the conversation is about to be longer than the model can read. */
export const create: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    await notifyWindow(turn, services);
  };
