/** Tokens between and before commands: blanks, comments, line ends and reserved words. */
import { endLine } from "./here-documents.js";
import type { Source } from "./source.js";
import { readWord } from "./words.js";

const RESERVED = new Set(
  "if then elif else fi for while until do done case esac select function { } [[ ! time coproc in ]]".split(" "),
);
/** Words that end a list of commands. */
export const CLOSERS = new Set("then elif else fi do done esac } ]] in".split(" "));
/** Blanks and comments up to the next token on this line. */
export function skipBlanks(source: Source): void {
  for (;;) {
    const character = source.peek();
    if (character === " " || character === "\t") source.position += 1;
    else if (character === "#") {
      const end = source.text.indexOf("\n", source.position);
      source.position = end < 0 ? source.text.length : end;
    } else return;
  }
}

export function skipLines(source: Source): void {
  for (skipBlanks(source); source.peek() === "\n"; skipBlanks(source)) endLine(source);
}

/** Steps over one of the words, which must stand here. */
export function expectWord(source: Source, words: readonly string[]): string {
  const word = reservedWordHere(source);
  if (word === undefined || !words.includes(word)) source.fail(`"${words[0]}" is missing`);
  readWord(source);
  return word;
}

const RESERVED_SHAPE = /[a-z]+|[{}!]|\[\[|\]\]/y;

/** The unquoted reserved word at this position. Line joins inside of one are unparsable. */
export function reservedWordHere(source: Source): string | undefined {
  source.peek();
  RESERVED_SHAPE.lastIndex = source.position;
  const word = RESERVED_SHAPE.exec(source.text)?.[0];
  if (word === undefined) return undefined;
  const after = source.position + word.length;
  if (source.text.startsWith("\\\n", after)) return joinedWord(source);
  if (!RESERVED.has(word)) return undefined;
  return " \t\n;&|()<>".includes(source.text.charAt(after)) ? word : undefined;
}

const JOINED_SHAPE = /(?:[a-z{}!]|\\\n)+/y;

function joinedWord(source: Source): undefined {
  JOINED_SHAPE.lastIndex = source.position;
  const run = JOINED_SHAPE.exec(source.text)?.[0] ?? "";
  if (RESERVED.has(run.replaceAll("\\\n", ""))) source.fail("a line is continued inside a reserved word");
  return undefined;
}
