/** Small matters of English and Markdown in answers. */
import { groupDigits } from "../../base/group-digits.js";

export function count(number: number, one: string, many = `${one}s`): string {
  return `${groupDigits(number)} ${number === 1 ? one : many}`;
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** "a", "a and b", "a, b and c". */
export function enumerate(items: readonly string[], last = "and"): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}

/** As many items as are worth showing, and what was left out. */
export function bulleted(items: readonly string[], most: number): string {
  const shown = items.slice(0, most).map((item) => `- ${item}`);
  const left = items.length - shown.length;
  if (left > 0) shown.push(`- … and ${groupDigits(left)} more`);
  return shown.join("\n");
}

/** A block of text as it is, in a fence that it cannot close. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

export function paragraphs(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}
