import type { CreateHook } from "../../services.js";

/** Before a person types the next input, they know what commands have left for their own git to run. */
export const create: CreateHook =
  ({ leftovers }) =>
  async (): Promise<undefined> => {
    await leftovers?.flush();
  };
