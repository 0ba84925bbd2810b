/** The part of a word that is known before it runs. */
import type { Word, WordPart } from "./syntax.js";

/** The text of a word if it does not depend on variables, files or folders; otherwise undefined. */
export function fixedValue(word: Word): string | undefined {
  return hasGlob(word) ? undefined : globValue(word);
}

/** Like `fixedValue`, with globs standing for themselves; undefined when anything else is left open. */
export function globValue(word: Word): string | undefined {
  let value = "";
  let braces = false;
  for (const part of word.parts) {
    if (part.type !== "literal" && part.type !== "glob" && part.type !== "brace") return undefined;
    value += part.value;
    braces ||= part.type === "brace";
  }
  return braces && mayExpandBraces(word) ? undefined : value;
}

export function hasGlob(word: Word): boolean {
  return word.parts.some((part) => part.type === "glob");
}

/** Tells whether file names of a glob may look like options: nothing precedes it. */
export function startsWithGlob(word: Word): boolean {
  const first = word.parts.find((part) => part.type !== "literal" || part.value !== "");
  return first?.type === "glob";
}

function mayExpandBraces({ parts }: Word): boolean {
  const opens = parts.some((part) => part.type === "brace" && part.value === "{");
  const closes = parts.some((part) => part.type === "brace" && part.value === "}");
  const separates = parts.some((part) => part.type === "literal" && !part.quoted && /,|\.\./.test(part.value));
  return opens && closes && separates;
}

/** Every part, also those inside of expansions. */
export function* allParts(parts: readonly WordPart[]): Generator<WordPart> {
  for (const part of parts) {
    yield part;
    if (part.type === "parameter" || part.type === "arithmetic") yield* allParts(part.parts);
  }
}
