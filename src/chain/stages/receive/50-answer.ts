import { receive } from "../../../engine/receive.js";
import type { Turn } from "../../../engine/turn.js";
import { failure } from "../../../protocol/errors.js";
import type { ChainServices, CreateHook } from "../../services.js";

/** Reads the answer and decides whether the turn continues. */
export const create: CreateHook = (services) => async (turn) => {
  const { stream, dispatch } = turn;
  if (stream === undefined || dispatch === undefined) throw new Error("nothing was sent to receive from");
  const answer = await receive(turn, stream, dispatch);
  if (!answer.complete) return (await isShorterNow(turn, services)) ? { next: "assemble" } : undefined;
  turn.compacted = false;
  if (answer.stop === "refusal") {
    turn.fail(failure("ContentRefused", { name: turn.model.provider, detail: turn.text || "no reason given" }));
    return undefined;
  }
  if (answer.yielded) return undefined;
  if (dispatch.size > 0) return { next: "tool_exec" };
  return answer.stop === "pause" ? { next: "assemble" } : undefined;
};

/** Compacts a conversation that is too long for its model once; if that does not help, the turn fails. */
async function isShorterNow(turn: Turn, { compaction }: ChainServices): Promise<boolean> {
  const tooLong = turn.failure;
  if (tooLong?.reason !== "ContextTooLong" || compaction === undefined) return false;
  if (turn.compacted) {
    turn.failure = { ...tooLong, message: `${tooLong.message} Oxbow shortened it, but it is still too long.` };
    return false;
  }
  turn.compacted = true;
  if (!(await compaction.shorten(turn, "too long"))) return false;
  turn.failure = undefined;
  return true;
}
