import type { ToolOutcome } from "../../engine/ports.js";
import type { CreateToolLink } from "../services.js";

/**
 * Tells the recorder which call is running (feature T10). A command is watched from outside; when that is not possible it
 * runs all the same, and the log says so. A file tool whose changes cannot be kept refuses them itself.
 */
export const create: CreateToolLink = ({ undo, log }) => {
  const failed = (message: string, error: unknown) => log("warn", "undo", message, { error: String(error) });
  return async (call, context, next) => {
    const { mutating, set } = context.definition;
    if (undo === undefined || !mutating) return next(call);
    const changes = set === "edit" ? "announced" : "watched";
    const recorded = await undo.begin({ call: call.call, tool: call.tool, changes }).catch((error: unknown) => {
      failed("a call cannot be recorded; it will not be possible to undo it", error);
      return undefined;
    });
    let outcome: ToolOutcome | undefined;
    try {
      outcome = await next(call);
      return outcome;
    } finally {
      const goesOn = typeof outcome?.details?.background_id === "string";
      // Looked at while the model is being asked; the next call and the end of the turn wait for it.
      recorded?.end({ goesOn }).catch((error: unknown) => failed("the end of a call was not recorded", error));
    }
  };
};
