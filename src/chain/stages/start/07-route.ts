import { TurnFailure } from "../../../engine/cancel.js";
import { failure } from "../../../protocol/errors.js";
import type { CreateHook } from "../../services.js";

/** Sends an input that names a route to that route, for this turn. */
export const create: CreateHook =
  ({ openRoute }) =>
  async (turn): Promise<undefined> => {
    if (turn.route === undefined) return;
    const found = await openRoute?.(turn.route);
    if (found === undefined)
      throw new TurnFailure(failure("NoModel", { detail: `there is no route '${turn.route}'.` }));
    if ("failure" in found) throw new TurnFailure(found.failure);
    turn.model = found.model;
  };
