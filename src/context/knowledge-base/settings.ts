import { existsSync } from "node:fs";
import { join } from "node:path";
import { onOrOff, type Setting, type SettingReader } from "../../feature/setting.js";
import type { Roots } from "../../system/xdg-paths.js";

/** The key of its database is made from the user's key with these words. */
export const KEY_PURPOSE = "oxbow knowledge base 1";

export interface KnowledgeSettings {
  /** Whether Oxbow offers to record what an answer states. */
  readonly kb_offer: Setting<boolean>;
}

export function readKnowledgeSettings(from: SettingReader): KnowledgeSettings {
  return {
    kb_offer: from.pick({ key: "kb_offer", fallback: true, read: onOrOff }),
  };
}

export function knowledgePath({ data }: Pick<Roots, "data">): string {
  return join(data, "knowledge.db");
}

/** One look at the disk. */
export function hasKnowledge(roots: Pick<Roots, "data">): boolean {
  return existsSync(knowledgePath(roots));
}
