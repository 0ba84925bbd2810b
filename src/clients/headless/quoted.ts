/**
 * Text of a call between the lines of a question. Every line of it but the first begins with a mark, also the lines that the
 * terminal would break by itself: no command can then look like the choices below it, or like another question.
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

/** A tab takes up to eight columns; what is not ASCII may take two. One too many breaks a line earlier, which is harmless. */
function columnsOf(character: string): number {
  if (character === "\t") return 8;
  return character <= "\x7f" ? 1 : 2;
}
