/** Settings of memory, and of the search in what was said before. */
import { join } from "node:path";
import { oneOf, type Setting, type SettingReader, wholeNumber } from "../../feature/setting.js";
import type { Roots } from "../../system/xdg-paths.js";

export type MemoryUse = "auto" | "on" | "off";
export type MemoryOffer = "people" | "always" | "off";
export type RecallReach = "session" | "folder" | "off";

const DEFAULT_TOKENS = 1_000;

export interface MemorySettings {
  /** `auto`: the model gets the tool when there are memories, or when the input asks to remember something. */
  readonly memory: Setting<MemoryUse>;
  /** The most tokens of memories that go along with one input. */
  readonly memory_tokens: Setting<number>;
  /** Where Oxbow says after a turn that something in it may be worth remembering. */
  readonly memory_offer: Setting<MemoryOffer>;
  /** What the recall tool searches: this session, or all sessions of its folder. */
  readonly recall: Setting<RecallReach>;
  /** The embedding model `PROVIDER:NAME` by which recall also finds what means the same; undefined for words only. */
  readonly recall_model: Setting<string | undefined>;
}

export function readMemorySettings(from: SettingReader): MemorySettings {
  return {
    memory: from.pick<MemoryUse>({
      key: "memory",
      fallback: "auto",
      read: oneOf("auto", "on", "off"),
      project: (theirs) => theirs === "off",
    }),
    memory_tokens: from.pick({
      key: "memory_tokens",
      fallback: DEFAULT_TOKENS,
      read: wholeNumber,
      project: (theirs, yours) => theirs <= yours,
    }),
    memory_offer: from.pick<MemoryOffer>({
      key: "memory_offer",
      fallback: "people",
      read: oneOf("people", "always", "off"),
      project: (theirs) => theirs === "off",
    }),
    recall: from.pick<RecallReach>({
      key: "recall",
      fallback: "session",
      read: oneOf("session", "folder", "off"),
      project: (theirs) => theirs === "off",
    }),
    recall_model: from.pick<string | undefined>({
      key: "recall_model",
      fallback: undefined,
      read: (text) => text.trim() || undefined,
    }),
  };
}

/** The folder of all memories. A session without it loads nothing of memory. */
export function memoryRoot({ data }: Pick<Roots, "data">): string {
  return join(data, "memory");
}
