import { compose } from "../../../engine/compose.js";
import { Dispatch } from "../../../engine/dispatch.js";
import type { RequestContext } from "../../../engine/ports.js";
import { preparedAnswer } from "../../../engine/prepared-answer.js";
import type { CreateHook } from "../../services.js";

/** Opens the model's answer through the request chain, or the calls that a person wants first. */
export const create: CreateHook =
  ({ callFacts, compaction }) =>
  async (turn): Promise<undefined> => {
    const { request, ports, timing, signal, calls } = turn;
    if (calls !== undefined) {
      turn.calls = undefined;
      turn.dispatch = new Dispatch(turn);
      turn.stream = preparedAnswer(calls);
      return;
    }
    if (request === undefined) throw new Error("nothing was assembled to send");
    const facts = callFacts?.();
    const context: RequestContext = { model: turn.model, signal, ...(facts && { facts }) };
    compaction?.sent?.(request, turn.model, facts);
    const send = compose(ports.requestLinks, async (final, inner) => inner.model.stream(final, inner), {
      timing,
      prefix: "request-link",
    });
    turn.dispatch = new Dispatch(turn);
    turn.stream = await send(request, context);
  };
