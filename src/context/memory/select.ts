/**
 * Decides which memories go along with an input. No model is asked, and the same memories, input and time give the same choice.
 *
 * 1. A memory counts by the words that it shares with the input (BM25; its name, description and tags more than its text) and by its age.
 * 2. Memories about the user and their feedback apply whatever the subject is: they also go along without a common word, after the others.
 *    What a repository shares is never about the user.
 * 3. The choice never exceeds the budget. A memory that does not fit is left out, and a smaller one may take its place.
 * 4. Memories about the same subject go along together, one after the other.
 */
import { estimateTokens } from "../../base/estimate-tokens.js";
import { rankTexts } from "../../base/rank-texts.js";
import { tellingWords, wordsAsWritten } from "../../base/words/index-words.js";
import type { MemoryEntry } from "./entry.js";

export interface SelectionOptions {
  /** The most tokens of all of them together. */
  readonly budget: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Those that the model still has in its conversation. */
  isPresent(entry: MemoryEntry): boolean;
  /** As the model gets it. */
  render(entry: MemoryEntry): string;
}

/** Explains why a memory goes along, or why not. */
export interface Consideration {
  readonly entry: MemoryEntry;
  readonly chosen: boolean;
  /** A sentence without its full stop. */
  readonly why: string;
  /** The words of the input that it has. */
  readonly words: readonly string[];
  readonly score: number;
  readonly tokens: number;
}

export interface Selection {
  /** Each group is one memory, or several about one subject. */
  readonly groups: readonly (readonly MemoryEntry[])[];
  /** The best first; all that were looked at. */
  readonly considered: readonly Consideration[];
  readonly tokens: number;
}

const MOST = 12;
const MOST_RELATED = 3;
const DAY_MS = 86_400_000;
/** After so many days the age counts half. */
const HALF_LIFE_DAYS = 30;
const RECENCY_WEIGHT = 0.2;
const STANDING = 0.1;
/** A score of BM25 at which a memory is half as relevant as one can be. */
const HALF_RELEVANT = 2;

export function selectMemories(entries: readonly MemoryEntry[], input: string, options: SelectionOptions): Selection {
  const ranked = rankEntries(entries, input, options.now);
  const choice = new Choice(options);
  const written = wordsAsWritten(input);
  const groups: (readonly MemoryEntry[])[] = [];
  for (const { entry, words, isStanding } of ranked) {
    if (choice.has(entry)) continue;
    if (words.length === 0 && !isStanding) {
      choice.leaveOut(entry, "No word of it is in the input");
      continue;
    }
    const shown = new Set(words.map((word) => written.get(word) ?? word));
    const why =
      shown.size > 0 ? `It has words of the input: ${[...shown].join(", ")}` : `It is of the type ${entry.type}`;
    if (!choice.take(entry, why)) continue;
    const others = relatedTo(entry, entries).filter((other) => !choice.has(other));
    const along = others.slice(0, MOST_RELATED);
    groups.push([
      entry,
      ...along.filter((other) => choice.take(other, `It is about the same subject as ${entry.name}`)),
    ]);
  }
  const considered = ranked.map(({ entry, words, score }) => ({ entry, words, score, ...choice.about(entry) }));
  return { groups, considered, tokens: choice.tokens };
}

/** Describes what was taken so far, and why. */
class Choice {
  tokens = 0;
  readonly #options: SelectionOptions;
  readonly #taken = new Map<MemoryEntry, string>();
  readonly #left = new Map<MemoryEntry, string>();

  constructor(options: SelectionOptions) {
    this.#options = options;
  }

  has(entry: MemoryEntry): boolean {
    return this.#taken.has(entry);
  }

  leaveOut(entry: MemoryEntry, why: string): false {
    this.#left.set(entry, why);
    return false;
  }

  take(entry: MemoryEntry, why: string): boolean {
    if (this.#options.isPresent(entry)) return this.leaveOut(entry, "It is in the conversation already");
    if (this.#taken.size >= MOST) return this.leaveOut(entry, `At most ${MOST} go along`);
    const weight = this.#weigh(entry);
    if (this.tokens + weight > this.#options.budget) return this.leaveOut(entry, "The budget is used up");
    this.tokens += weight;
    this.#taken.set(entry, why);
    return true;
  }

  about(entry: MemoryEntry): Pick<Consideration, "chosen" | "why" | "tokens"> {
    const chosen = this.has(entry);
    const why = this.#taken.get(entry) ?? this.#left.get(entry) ?? "";
    return { chosen, why, tokens: chosen ? this.#weigh(entry) : 0 };
  }

  #weigh(entry: MemoryEntry): number {
    return estimateTokens(this.#options.render(entry));
  }
}

export interface RankedEntry {
  readonly entry: MemoryEntry;
  readonly words: readonly string[];
  readonly score: number;
  readonly isStanding: boolean;
}

/** The best first; of equal ones the newest, then by name. */
export function rankEntries(entries: readonly MemoryEntry[], input: string, now: number): readonly RankedEntry[] {
  const matches = rankTexts(entries.map(fieldsOf), tellingWords(input));
  const ranked = entries.map((entry, at): RankedEntry => {
    const { score = 0, words = [] } = matches[at] ?? {};
    const isStanding = (entry.type === "user" || entry.type === "feedback") && entry.scope !== "shared";
    const days = Math.max(0, (now - Date.parse(entry.updated)) / DAY_MS);
    const recency = RECENCY_WEIGHT * 0.5 ** (days / HALF_LIFE_DAYS);
    const relevance = score / (score + HALF_RELEVANT);
    return { entry, words, isStanding, score: round(relevance + recency + (isStanding ? STANDING : 0)) };
  });
  return ranked.sort(
    (a, b) =>
      b.score - a.score ||
      compare(b.entry.updated, a.entry.updated) ||
      compare(a.entry.name, b.entry.name) ||
      compare(a.entry.scope, b.entry.scope),
  );
}

function fieldsOf({ name, description, tags, body }: MemoryEntry) {
  return [
    { words: tellingWords(name), weight: 3 },
    { words: tellingWords(tags.join(" ")), weight: 3 },
    { words: tellingWords(description), weight: 2 },
    { words: tellingWords(body), weight: 1 },
  ];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Far below what matters, so that machines agree. */
function round(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}

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

/**
 * Finds memories about one subject. Two of them may contradict each other, and only a person knows which one holds, so Oxbow shows both
 * and merges nothing.
 */
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
