import { TurnFailure } from "../../engine/cancel.js";
import { notSaved } from "../../sessions/not-saved.js";
import type { CreateToolLink } from "../services.js";

/**
 * Records the intent of a call that makes changes, after the permission and before the start: a question that no client
 * answered is not a call that may have run. The end is written with the result. Writing takes time; the
 * later links prepare meanwhile, and `90-wait-for-intent` waits. A call that only reads waits until the session
 * can be stored: a turn that cannot be saved runs no tool.
 */
export const create: CreateToolLink =
  ({ journal, undo }) =>
  async (call, context, next) => {
    if (journal === undefined) return next(call);
    const refuse = (error: Error): never => {
      throw new TurnFailure(notSaved(error));
    };
    if (!context.definition.mutating) {
      await journal.ready?.().catch(refuse);
      return next(call);
    }
    const { definition, openings = [] } = context;
    const isWhole = definition.set === "command" ? undo?.isWhole?.(call, definition, openings) : undefined;
    const intended = journal.intend(call, { isWhole }).catch(refuse);
    // A link that refuses the call never waits for it.
    intended.catch(() => {});
    return next(call, { ...context, intended });
  };
