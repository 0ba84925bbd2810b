/** Settings of memory, and of the search in what was said before. */
import { join } from "node:path";
import { textOrNone, wholeNumber } from "../../base/read-value.js";
import { choice, type SettingsOf, setting } from "../../feature/setting.js";
import type { Roots } from "../../system/xdg-paths.js";

export const memorySettings = {
  /** `auto`: the model gets the tool when there are memories, or when the input asks to remember something. */
  memory: choice(["auto", "on", "off"], {
    about: "whether notes go along and the model has the tool: auto, on or off",
    guide: "knowledge",
    fallback: "auto",
    project: (theirs) => theirs === "off",
  }),
  memory_tokens: setting({
    about: "the most tokens of notes in one input",
    guide: "knowledge",
    fallback: 1_000,
    read: wholeNumber,
    project: (theirs, yours) => theirs <= yours,
  }),
  memory_offer: choice(["people", "always", "off"], {
    about: "where Oxbow offers to keep a note: people, always or off",
    guide: "knowledge",
    fallback: "people",
    project: (theirs) => theirs === "off",
  }),
  recall: choice(["session", "folder", "off"], {
    about: "what the model may look up of what a summary replaced: session, folder or off",
    guide: "context",
    fallback: "session",
    project: (theirs) => theirs === "off",
  }),
  recall_model: setting({
    about: "the embedding model that also finds what means the same",
    guide: "context",
    read: textOrNone,
  }),
};

export type MemorySettings = SettingsOf<typeof memorySettings>;

/** The folder of all memories. A session without it loads nothing of memory. */
export function memoryRoot({ data }: Pick<Roots, "data">): string {
  return join(data, "memory");
}
