import { TurnFailure } from "../../engine/cancel.js";
import { notSaved } from "../../sessions/not-saved.js";
import type { CreateToolLink } from "../services.js";

/**
 * What changes something is written down before it begins, after it was permitted: a question that no client
 * answered before the end is not a call that may have run. Its end is written with its result. The disk takes its time; the
 * links behind get ready meanwhile, and `90-wait-for-intent` waits. A call that only reads waits until it is known that the session
 * can be kept at all: a turn that cannot be saved runs no tool.
 */
export const create: CreateToolLink =
  ({ journal }) =>
  async (call, context, next) => {
    if (journal === undefined) return next(call);
    const refuse = (error: Error): never => {
      throw new TurnFailure(notSaved(error));
    };
    if (!context.definition.mutating) {
      await journal.ready?.().catch(refuse);
      return next(call);
    }
    const intended = journal.intend(call).catch(refuse);
    // A link that refuses the call never comes to wait for it.
    intended.catch(() => {});
    return next(call, { ...context, intended });
  };
