/**
 * Text for a terminal that shows ASCII only, or for a screen reader. It is changed on its way out, so that nothing else knows of them.
 *
 * 1. Every character keeps its width: rows and columns stay where they are.
 * 2. A letter loses its marks; what has no letter of ASCII becomes a question mark.
 */
import { characters, textWidth } from "./text-width.js";

const MARKS: Readonly<Record<string, string>> = {
  "-": "·–—−─━⠹⠦",
  "|": "│┃┌┐└┘⠋⠼⠇",
  "/": "⠙⠴⠏",
  "\\": "⠸⠧⏎",
  "+": "┼├✓",
  ">": "❯›»→↳▸≥",
  "<": "‹«←≤",
  x: "✗×☑",
  "*": "●•",
  "!": "⊘",
  o: "○◦",
  "#": "▰",
  _: "▱☐",
  "~": "…⋯‥≈",
  "^": "↑",
  v: "↓",
  '"': "“”„",
  "'": "‘’",
};

const ASCII_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(MARKS).flatMap(([ascii, marks]) => Array.from(marks, (mark) => [mark, ascii] as const)),
);

export function asciiText(text: string): string {
  return text.replace(/[^\x00-\x7f]+/gu, (run) => Array.from(characters(run), asciiOf).join(""));
}

/** Blanks for borders, rules, bars and spinners: a screen reader would spell them out. */
export function unruledText(text: string): string {
  return text.replace(/[\u2500-\u259f\u2800-\u28ff▰▱]/g, " ");
}

function asciiOf(character: string): string {
  const letter = character.normalize("NFD").charAt(0);
  const found = ASCII_OF.get(character) ?? (letter <= "\x7f" ? letter : undefined);
  return found ?? "?".repeat(textWidth(character));
}
