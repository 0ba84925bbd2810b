import type { Turn } from "../../../engine/turn.js";
import type { ChainServices, Compaction, CreateHook } from "../../services.js";

/** Compacts the conversation before the window is full. Usually one comparison. */
export const create: CreateHook =
  ({ compaction, outside }) =>
  (turn) => {
    const due = compaction?.isDue(turn) ?? false;
    return compaction !== undefined && due ? shorten(turn, due, { compaction, outside }) : undefined;
  };

async function shorten(
  turn: Turn,
  due: true | Promise<boolean>,
  { compaction, outside }: { readonly compaction: Compaction; readonly outside: ChainServices["outside"] },
): Promise<undefined> {
  if ((await due) && (await compaction.shorten(turn, "nearly full")) && turn.request !== undefined) {
    const messages = (await outside?.asSent(turn.conversation)) ?? [...turn.conversation];
    turn.request = { ...turn.request, messages };
  }
}
