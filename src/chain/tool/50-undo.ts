import { formatDuration } from "../../base/duration.js";
import type { ToolOutcome } from "../../engine/ports.js";
import { ownText } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import type { CreateToolLink } from "../services.js";

/**
 * Tells undo which call is running. A command that cannot be recorded still runs, and the log says so. A file tool refuses changes that
 * cannot be recorded.
 */
export const create: CreateToolLink = ({ undo, log }) => {
  const failed = (message: string, error: unknown) => log("warn", "undo", message, { error: String(error) });
  return async (call, context, next) => {
    const { mutating, set } = context.definition;
    // A subagent records its own calls.
    if (undo === undefined || !mutating || set === "agents") return next(call);
    const isHeld = set === "command" && (await undo.holdsBack?.(call, context.definition)) === true;
    const changes = set === "edit" ? "announced" : isHeld ? "held" : "unknown";
    const recorded = await undo.begin({ call: call.call, tool: call.tool, changes }).catch((error: unknown) => {
      failed("Oxbow cannot record a call, so undo cannot revert it", error);
      return undefined;
    });
    let outcome: ToolOutcome | undefined;
    try {
      outcome = await next(call);
    } finally {
      const goesOn = typeof outcome?.details?.background_id === "string";
      await recorded?.end({ goesOn }).catch((error: unknown) => {
        failed("Oxbow could not record the end of a call", error);
      });
    }
    return changes === "unknown" && outcome.status === "cancelled" ? cancelled(outcome) : outcome;
  };
};

/** A stopped command may have changed files, and nothing knows which. */
function cancelled(outcome: ToolOutcome): ToolOutcome {
  const ms = outcome.details?.duration_ms;
  if (typeof ms !== "number") return outcome;
  const { reason, message } = failure("BashCancelledMidCommand", { duration: formatDuration(ms) });
  const details = { ...outcome.details, failure: { reason, message } };
  return { ...outcome, content: [...outcome.content, ownText(message)], details };
}
