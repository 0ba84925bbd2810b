import { formatDuration } from "../../base/duration.js";
import type { ToolOutcome } from "../../engine/ports.js";
import { ownText } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import type { CreateToolLink } from "../services.js";

/**
 * Tells undo which call is running. A command is watched from outside; if that is not possible, it
 * still runs, and the log says so. A file tool refuses changes that cannot be recorded.
 */
export const create: CreateToolLink = ({ undo, log, session }) => {
  const failed = (message: string, error: unknown) => log("warn", "undo", message, { error: String(error) });
  return async (call, context, next) => {
    const { mutating, set } = context.definition;
    // A subagent records its own calls.
    if (undo === undefined || !mutating || set === "agents") return next(call);
    const isHeld = set === "command" && (await undo.holdsBack?.(call, context.definition)) === true;
    const changes = set === "edit" || isHeld ? "announced" : "watched";
    const recorded = await undo.begin({ call: call.call, tool: call.tool, changes }).catch((error: unknown) => {
      failed("Oxbow cannot record a call, so undo cannot revert it", error);
      return undefined;
    });
    let outcome: ToolOutcome | undefined;
    let changed: Promise<readonly string[] | undefined> | undefined;
    try {
      outcome = await next(call);
    } finally {
      const goesOn = typeof outcome?.details?.background_id === "string";
      // Compared during the model call; the next call and the end of the turn wait for it.
      changed = recorded?.end({ goesOn }).catch((error: unknown) => {
        failed("Oxbow could not record the end of a call", error);
        return undefined;
      });
    }
    return changes === "watched" && outcome.status === "cancelled" ? cancelled(outcome, { changed, session }) : outcome;
  };
};

/** The user waits for the program to end, so a large workspace is not scanned first. */
const LOOK_MS = 200;
const MOST_NAMES = 20;

/** A stopped command may have changed files: its result lists them. */
async function cancelled(
  outcome: ToolOutcome,
  {
    changed,
    session,
  }: { readonly changed: Promise<readonly string[] | undefined> | undefined; readonly session: string | undefined },
): Promise<ToolOutcome> {
  const ms = outcome.details?.duration_ms;
  if (typeof ms !== "number") return outcome;
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), LOOK_MS).unref());
  const files = await Promise.race([changed ?? undefined, late]);
  const { reason, message } = failure("BashCancelledMidCommand", {
    duration: formatDuration(ms),
    list: files === undefined ? "not known" : listed(files),
    session: session ?? "ID",
  });
  const details = { ...outcome.details, failure: { reason, message, ...(files !== undefined && { files }) } };
  return { ...outcome, content: [...outcome.content, ownText(message)], details };
}

function listed(files: readonly string[]): string {
  if (files.length === 0) return "none that Oxbow knows of";
  const more = files.length > MOST_NAMES ? ` and ${files.length - MOST_NAMES} more` : "";
  return `${files.slice(0, MOST_NAMES).join(", ")}${more}`;
}
