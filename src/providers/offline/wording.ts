/** Helpers for the English and the Markdown of answers. */
import { counted as count, groupDigits } from "../../base/group-digits.js";

export { count };

export function code(text: string): string {
  return `\`${text}\``;
}

/** Joins: "a", "a and b", "a, b and c". */
export function enumerate(items: readonly string[], last = "and"): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}

/** Lists the first items, and tells how many were left out. */
export function bulleted(items: readonly string[], most: number): string {
  const left = items.length - most;
  const more = left > 0 ? [`- … and ${groupDigits(left)} more`] : [];
  return [...items.slice(0, most).map((item) => `- ${item}`), ...more].join("\n");
}

/** Puts text into a fence that it cannot close. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

export function paragraphs(...parts: readonly (string | false | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== false && part !== "").join("\n\n");
}

/** Names with their numbers. */
type Tally = readonly (readonly [name: string, number: number])[];

/** Puts the highest number first; names in order where numbers are equal. */
export function ranked(rows: Tally): Tally {
  return [...rows].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

/** Counts how often each name occurs, most frequent first. */
export function tally(names: readonly string[]): Tally {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return ranked([...counts]);
}

/** Makes a table of numbers and names. */
export function numbers(rows: Tally, most = rows.length): string {
  const shown = rows.slice(0, most).map(([name, number]) => [groupDigits(number), name] as const);
  const width = Math.max(...shown.map(([number]) => number.length));
  const more = rows.length > most ? [`… and ${groupDigits(rows.length - most)} more`] : [];
  return fenced([...shown.map(([number, name]) => `${number.padStart(width)}  ${name}`), ...more].join("\n"));
}

/** Says "`a` has the most: 3 lines.", or which ones share the highest number. */
export function mostSentence(rows: Tally, unit: string, note = ""): string {
  const highest = rows[0]?.[1] ?? 0;
  const winners = rows.flatMap(([name, number]) => (number === highest ? [code(name)] : []));
  if (winners.length === 1) return `${winners[0]} has the most: ${count(highest, unit)}${note}.`;
  const more = winners.length > 8 ? [`${winners.length - 8} more`] : [];
  return `A tie between ${count(winners.length, "file")} with ${count(highest, unit)} each${note}: ${enumerate([...winners.slice(0, 8), ...more])}.`;
}
