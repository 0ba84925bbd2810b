import { failure } from "../../../protocol/errors.js";
import type { CreateHook } from "../../services.js";

/** A turn counts as answered only when it is saved. The time for the log is known then, too. */
export const create: CreateHook =
  ({ journal }) =>
  async (turn): Promise<undefined> => {
    if (journal === undefined) return;
    try {
      await journal.flush();
    } catch (error) {
      turn.outcome = undefined;
      turn.fail(failure("SessionNotSaved", { detail: (error as Error).message }));
    }
    turn.timing.add("log/write", journal.takeWriteMs());
  };
