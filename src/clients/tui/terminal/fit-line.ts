/**
 * Makes lines fit a row of the screen. Views clean and clip their text themselves; this is a second check, because a single cursor
 * movement or line break too many destroys the text above the live part.
 */
import { characters, characterWidth, textWidth } from "../../../base/text-width.js";

const CONTROL = /[\x00-\x1f\x7f-\x9f]/;
/** Colours and links stay. Every other sequence and control character is removed. */
const PIECES =
  /(\x1b\[[0-9;:]*m|\x1b\]8;[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\))|\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x1f\x7f-\x9f]/g;
const TAB = "   ";

/** No row shows more. Splitting a text into characters takes quadratic time. */
const LONGEST_LINE = 4096;

function cleanLine(line: string): string {
  if (!CONTROL.test(line)) return line;
  return line.replace(PIECES, (piece, kept: string | undefined) => kept ?? (piece === "\t" ? TAB : ""));
}

/** The line cut to `columns`, without blanks at its end, which a selection would copy. */
export function fitLine(line: string, columns: number): string {
  const clean = cleanLine(line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) : line);
  return (textWidth(withoutStyles(clean)) <= columns ? clean : cutLine(clean, columns)).trimEnd();
}

/** The beginning of a line, with the styles in it. */
function cutLine(line: string, columns: number): string {
  let out = "";
  let used = 0;
  for (const part of line.split(STYLE_PARTS)) {
    if (part.startsWith("\x1b")) {
      out += part;
      continue;
    }
    for (const character of characters(part)) {
      used += characterWidth(character);
      if (used > columns) return out;
      out += character;
    }
  }
  return out;
}

/** Before a printed row that continues the one above it: the terminal keeps both as one line. No text contains it. */
export const CONTINUED = "\0";

/** A row that goes to the scrollback. It may be wider than the screen: the terminal wraps it, and copies it unwrapped. */
export interface PrintedRow {
  readonly text: string;
  readonly continues: boolean;
}

export function printedRows(lines: readonly string[]): PrintedRow[] {
  const split = lines.flatMap((line) => line.split(/\r\n|\r|\n/));
  // Nothing more of a line is no row.
  const rows = split.filter((line) => !line.startsWith(CONTINUED) || withoutStyles(cleanLine(line)) !== "");
  return rows.map((line, index) => {
    const continues = line.startsWith(CONTINUED);
    const text = cleanLine(line);
    // The blanks at the end of a line that goes on belong to it.
    return { text: continues || rows[index + 1]?.startsWith(CONTINUED) ? text : text.trimEnd(), continues };
  });
}

const STYLES = /\x1b\[[0-9;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g;
const STYLE_PARTS = new RegExp(`(${STYLES.source})`);

export function withoutStyles(line: string): string {
  return line.replace(STYLES, "");
}

const LINK_STARTS = /\x1b\]8;[^;]*;[^\x07\x1b]/;
const LINK_END = "\x1b]8;;\x1b\\";

/** Ends the styles of a line, even if the line was cut inside a link. */
export function endStyles(line: string): string {
  if (!line.includes("\x1b")) return "";
  const link = line.lastIndexOf("\x1b]8;");
  const isOpen = link !== -1 && LINK_STARTS.test(line.slice(link));
  return isOpen ? `\x1b[m${LINK_END}` : "\x1b[m";
}
