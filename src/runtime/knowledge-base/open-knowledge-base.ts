/** Opens the user's knowledge base with the user's key. */
import { hkdfSync } from "node:crypto";
import type { Clock } from "../../base/clock.js";
import { KnowledgeBase } from "../../context/knowledge-base/knowledge-base.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { SessionStores } from "../sessions/session-stores.js";
import { knowledgePath } from "./has-knowledge.js";

export async function openKnowledgeBase(place: {
  readonly roots: Pick<Roots, "data">;
  readonly keys: Pick<SessionStores, "key">;
  readonly clock: Clock;
  /** For a command that ends soon: on a full or read-only disk it can still read. */
  readonly isForReading?: boolean;
}): Promise<KnowledgeBase> {
  const key = new Uint8Array(hkdfSync("sha256", await place.keys.key(), "", "oxbow knowledge base 1", 32));
  const { isForReading = false } = place;
  return KnowledgeBase.open({ path: knowledgePath(place.roots), key, wall: place.clock.wall, isForReading });
}
