import type { CreateHook } from "../../services.js";

/** Before a person types the next input, they know what commands have left for their own git to run (feature P8). */
export const create: CreateHook =
  ({ leftovers }) =>
  async (): Promise<undefined> => {
    await leftovers?.flush();
  };
