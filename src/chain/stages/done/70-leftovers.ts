import type { CreateHook } from "../../services.js";

/** Tells the user before the next input what commands left for git to run. */
export const create: CreateHook =
  ({ leftovers }) =>
  async (): Promise<undefined> => {
    await leftovers?.flush();
  };
