/**
 * Memories about one subject. Two of them may contradict each other, and only a person knows which one holds, so Oxbow shows both and
 * merges nothing.
 */
import { tellingWords } from "../../base/words/index-words.js";
import type { MemoryEntry } from "./entry.js";

type Described = Pick<MemoryEntry, "name" | "description" | "body" | "scope">;

/** The share of common words of two descriptions from which on they are about one subject. */
const ALIKE = 0.5;
/** Short ones hardly have more in common than their subject: `pnpm for installs`, `npm for installs`. */
const SHORT = 3;
const SHORT_ALIKE = 1 / 3;
/** Words of wishes, whatever they are about; as stems. */
const WISHES: ReadonlySet<string> = new Set(
  tellingWords("prefer prefers like likes want wants need always never should work works"),
);

export function relatedTo<E extends Described>(entry: Described, others: readonly E[]): readonly E[] {
  const words = subjectOf(entry);
  return others.filter((other) => {
    if (other.name === entry.name && other.scope === entry.scope) return false;
    if (other.body.trim() === entry.body.trim()) return false;
    return plainName(other) === plainName(entry) || isAlike(words, subjectOf(other));
  });
}

/** A second memory of that name has a number behind it. */
function plainName({ name }: Described): string {
  return name.replace(/-\d+$/, "");
}

function subjectOf({ description }: Described): ReadonlySet<string> {
  return new Set(tellingWords(description).filter((word) => !WISHES.has(word)));
}

function isAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const common = [...one].filter((word) => other.has(word)).length;
  const least = Math.max(one.size, other.size) <= SHORT ? SHORT_ALIKE : ALIKE;
  return common > 0 && common / (one.size + other.size - common) >= least;
}
