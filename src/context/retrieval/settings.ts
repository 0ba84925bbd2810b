import { type SettingsOf, tables } from "../../feature/setting.js";

export const retrievalSettings = {
  rag: tables({ about: "the store of documents that is on at the start", guide: "knowledge" }),
};

export type RetrievalSettings = SettingsOf<typeof retrievalSettings>;
