import type { Turn } from "../engine/turn.js";
import type { ChainServices } from "./services.js";

/** A fault in this is no fault of the turn. */
export async function notifyWindow(turn: Turn, { costs, log }: ChainServices): Promise<void> {
  try {
    const news = await costs?.windowNews(turn.model);
    if (news !== undefined) turn.bus.publish("ContextNearlyFull", { turn: turn.id, ...news });
  } catch (error) {
    log("warn", "engine", "the size of the conversation is unknown", { error: String(error) });
  }
}
