import { groupDigits } from "../../../base/group-digits.js";
import { TurnFailure } from "../../../engine/cancel.js";
import type { Turn } from "../../../engine/turn.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import type { CreateHook } from "../../services.js";

/** One answer may be cut by chance; the next one knows. */
const MOST_CUT = 2;

/** Runs the calls and answers each of them in the conversation. */
export const create: CreateHook =
  () =>
  async (turn): Promise<undefined> => {
    if (turn.dispatch === undefined) throw new Error("no calls to run");
    const { results, failure: cause } = await turn.dispatch.finish();
    turn.dispatch = undefined;
    turn.conversation.push({ role: "user", content: results });
    if (cause !== undefined) throw new TurnFailure(cause);
    if (turn.cutCalls >= MOST_CUT) throw new TurnFailure(answersCut(turn));
  };

function answersCut({ model, outputLimit }: Turn): Failure {
  const limit = outputLimit === undefined ? "" : ` of ${groupDigits(outputLimit)} tokens`;
  return failure("AnswersCut", { name: model.provider, limit });
}
