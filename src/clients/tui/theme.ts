/** The colours of the client by role. A style wraps text without line breaks; `plain` themes return it unchanged. */

export type Style = (text: string) => string;

export const ROLES = [
  "text",
  "dim",
  "strong",
  "emphasis",
  "strike",
  "accent",
  "success",
  "warning",
  "danger",
  /** The user's own text. */
  "user",
  "heading",
  "link",
  "code",
  "quote",
  "added",
  "removed",
  /** The background of a changed line, in themes that have one. */
  "addedLine",
  "removedLine",
  /** The words that differ inside a changed line. */
  "addedWord",
  "removedWord",
  "keyword",
  "string",
  "number",
  "comment",
  "type",
  "function",
  /** The selected row of a list. */
  "selected",
  /** The key of a hint: `[y]`, `ctrl+o`. */
  "key",
  "modeAsk",
  "modeAuto",
  "modePlan",
] as const;

export type Role = (typeof ROLES)[number];

export interface Theme extends Readonly<Record<Role, Style>> {
  readonly name: string;
  /** Marks and lines in ASCII, for terminals and fonts that draw others wrong. */
  /** Whether OSC 8 links may be written. */
  readonly links: boolean;
}
