import type { Turn } from "../engine/turn.js";
import type { ChainServices } from "./services.js";

/** A failure here does not fail the turn. */
export async function notifyWindow(turn: Turn, { costs, log }: ChainServices): Promise<void> {
  try {
    const news = await costs?.windowNews(turn.model);
    if (news !== undefined) turn.bus.publish("ContextNearlyFull", { turn: turn.id, ...news });
  } catch (error) {
    log("warn", "engine", "the size of the conversation is unknown", { error: String(error) });
  }
}
