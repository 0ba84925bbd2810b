import type { CreateHook } from "../../services.js";
import { tellWindow } from "../../tell-window.js";

/** Between two calls of a long turn: says when the conversation is about to be longer than the model can read (feature M16). */
export const create: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    await tellWindow(turn, services);
  };
