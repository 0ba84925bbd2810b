import { existsSync } from "node:fs";
import { join } from "node:path";
import { onOrOff } from "../../base/read-value.js";
import { type SettingsOf, setting } from "../../feature/setting.js";
import type { Roots } from "../../system/xdg-paths.js";

/** The key of its database is made from the user's key with these words. */
export const KEY_PURPOSE = "oxbow knowledge base 1";

export const knowledgeSettings = {
  kb_offer: setting({
    about: "whether Oxbow offers to keep findings in the knowledge base; off: never",
    guide: "knowledge",
    fallback: true,
    read: onOrOff,
  }),
};

export type KnowledgeSettings = SettingsOf<typeof knowledgeSettings>;

export function knowledgePath({ data }: Pick<Roots, "data">): string {
  return join(data, "knowledge.db");
}

/** One look at the disk. */
export function hasKnowledge(roots: Pick<Roots, "data">): boolean {
  return existsSync(knowledgePath(roots));
}
