/**
 * JSON that may be printed. `JSON.stringify` leaves some control characters as they are, and a terminal would obey them: the value stays
 * the same, the text contains only harmless characters.
 */
const UNESCAPED = /[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNESCAPED, escaped);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
