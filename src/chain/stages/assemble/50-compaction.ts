import type { Stage, Turn } from "../../../engine/turn.js";
import type { Compaction, CreateHook } from "../../services.js";

/** Before the window is full, the beginning of the conversation gives way to a summary (features M16, X7). Mostly one comparison. */
export const create: CreateHook =
  ({ compaction }) =>
  (turn) => {
    const due = compaction?.isDue(turn) ?? false;
    return compaction !== undefined && due ? shorten(turn, compaction, due) : "send";
  };

async function shorten(turn: Turn, compaction: Compaction, due: true | Promise<boolean>): Promise<Stage> {
  if ((await due) && (await compaction.shorten(turn, "nearly full")) && turn.request !== undefined) {
    turn.request = { ...turn.request, messages: [...turn.conversation] };
  }
  return "send";
}
