import { TurnFailure } from "../../engine/cancel.js";
import { failure } from "../../protocol/errors.js";
import type { CreateToolLink } from "../services.js";

/**
 * What changes something is written down before it begins (feature S3), after it was permitted: a question that nobody
 * answered before the end is not a call that may have run. Its end is written with its result.
 */
export const create: CreateToolLink =
  ({ journal }) =>
  async (call, context, next) => {
    if (journal === undefined || !context.definition.mutating) return next(call);
    try {
      await journal.intend(call);
    } catch (error) {
      throw new TurnFailure(failure("SessionNotSaved", { detail: (error as Error).message }));
    }
    return next(call);
  };
