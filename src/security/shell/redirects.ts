import { readHereDocument } from "./here-documents.js";
import type { Source } from "./source.js";
import type { Redirect, RedirectOperator } from "./syntax.js";
import { skipBlanks } from "./tokens.js";
import { readWord } from "./words.js";

const DESCRIPTOR = /(?:[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})(?=[<>])/y;
const REDIRECTS: readonly RedirectOperator[] = [
  "&>>",
  "&>",
  "<<<",
  "<<-",
  "<<",
  "<>",
  "<&",
  "<",
  ">>",
  ">|",
  ">&",
  ">",
];

/** The redirect here, with the descriptor before it; undefined where none starts. */
export function readRedirect(source: Source): Redirect | undefined {
  source.peek();
  DESCRIPTOR.lastIndex = source.position;
  const descriptor = DESCRIPTOR.exec(source.text)?.[0];
  const at = source.position + (descriptor?.length ?? 0);
  const operator = REDIRECTS.find((token) => source.text.startsWith(token, at));
  if (operator === undefined) return undefined;
  if ((operator === "<" || operator === ">") && source.text[at + 1] === "(") {
    if (descriptor !== undefined) source.fail("a number stands before a process substitution");
    return undefined;
  }
  source.position = at;
  source.take(operator);
  skipBlanks(source);
  if (operator === "<<" || operator === "<<-") return readHereDocument(source, { operator, descriptor });
  const target = readWord(source);
  if (target === undefined) source.fail(`there is nothing after "${operator}"`);
  return { operator, descriptor, target };
}
