import { receive } from "../../../engine/receive.js";
import { failure } from "../../../protocol/errors.js";
import type { CreateHook } from "../../services.js";

/** Reads the answer and decides whether the turn goes on. */
export const create: CreateHook = () => async (turn) => {
  const { stream, dispatch } = turn;
  if (stream === undefined || dispatch === undefined) throw new Error("nothing was sent to receive from");
  const answer = await receive(turn, stream, dispatch);
  if (!answer.complete) return "done";
  if (answer.stop === "refusal") {
    return turn.fail(failure("ContentRefused", { name: turn.model.provider, detail: turn.text || "no reason given" }));
  }
  if (answer.yielded) return "done";
  if (dispatch.size > 0) return "tool_exec";
  return answer.stop === "pause" ? "assemble" : "done";
};
