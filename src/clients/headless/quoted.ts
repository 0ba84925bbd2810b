/**
 * Text of a call inside a question. Every line except the first begins with a mark, including lines that the terminal would wrap, so
 * that no command can look like the choices below it, or like another question.
 */
import { safeText } from "../../base/terminal-text.js";

const MARK = "  │ ";
const NARROWEST = 20;

/** `width`: the columns that the first line has; the others have as many, or more. */
export function quoted(text: string, width: number): string {
  const room = Math.max(NARROWEST, width - MARK.length - 1);
  return safeText(text)
    .split("\n")
    .flatMap((line) => broken(line, room))
    .join(`\n${MARK}`);
}

function broken(line: string, room: number): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  let columns = 0;
  for (const character of line) {
    const wide = columnsOf(character);
    if (columns + wide > room) {
      pieces.push(piece);
      piece = "";
      columns = 0;
    }
    piece += character;
    columns += wide;
  }
  return [...pieces, piece];
}

/** A tab takes up to eight columns; other characters than ASCII may take two. Counting too many only breaks a line earlier. */
function columnsOf(character: string): number {
  if (character === "\t") return 8;
  return character <= "\x7f" ? 1 : 2;
}
