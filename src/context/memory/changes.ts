/** What is asked of a folder of memories, and what it answers. */
import type { MemoryEntry, MemoryProblem, MemoryType } from "./entry.js";

export interface NewMemory {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly type?: MemoryType | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly body: string;
}

export type MemoryChange = { readonly [K in keyof Omit<NewMemory, "name">]?: NewMemory[K] | undefined };

/** Who changes something, for the audit. */
export interface Author {
  readonly by: "user" | "model";
  readonly session?: string | undefined;
}

export interface MemoryListing {
  readonly entries: readonly MemoryEntry[];
  readonly problems: readonly MemoryProblem[];
}

/** A refusal in words for people and models. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
}
