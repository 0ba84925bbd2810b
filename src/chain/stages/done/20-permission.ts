import { failure } from "../../../protocol/errors.js";
import type { CreateHook } from "../../services.js";

/** An answer that was given without something the model needed is not a full answer: say so. */
export const create: CreateHook = () => (turn) => {
  const tool = turn.unansweredTool;
  if (tool !== undefined && turn.outcome === undefined && turn.failure === undefined) {
    turn.outcome = "denied";
    const { unansweredMs } = turn;
    turn.failure =
      unansweredMs === undefined
        ? failure("PermissionUnanswerable", { tool })
        : failure("PermissionTimeout", { tool, timeout: Math.round(unansweredMs / 1000) });
  }
};
