/**
 * Memories about one subject. Two of them may contradict each other, and only a person knows which one holds, so Oxbow shows both and
 * merges nothing.
 */
import { searchWords } from "../../base/search-words.js";
import type { MemoryEntry } from "./entry.js";

type Described = Pick<MemoryEntry, "name" | "description" | "body" | "scope">;

/** The share of common words of two descriptions from which on they are about one subject. */
const ALIKE = 0.5;
const LEAST_COMMON = 2;

export function relatedTo<E extends Described>(entry: Described, others: readonly E[]): readonly E[] {
  const words = subjectOf(entry);
  return others.filter((other) => {
    if (other.name === entry.name && other.scope === entry.scope) return false;
    if (other.body.trim() === entry.body.trim()) return false;
    return other.name === entry.name || isAlike(words, subjectOf(other));
  });
}

function subjectOf({ name, description }: Described): ReadonlySet<string> {
  return new Set(searchWords(`${name.replace(/-\d+$/, "")} ${description}`));
}

function isAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const common = [...one].filter((word) => other.has(word)).length;
  return common >= LEAST_COMMON && common / (one.size + other.size - common) >= ALIKE;
}
