import type { Setting, SettingReader } from "../../feature/setting.js";

export interface RetrievalSettings {
  /** The `[rag]` table, as it was written. */
  readonly rag: Setting<Readonly<Record<string, unknown>> | undefined>;
}

export function readRetrievalSettings(from: SettingReader): RetrievalSettings {
  return { rag: from.tables("rag") };
}
