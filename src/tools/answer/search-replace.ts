/**
 * SEARCH/REPLACE blocks:
 *
 *     <<<<<<< SEARCH          also ORIGINAL, and ------- SEARCH
 *     the lines as they are
 *     =======
 *     the new lines
 *     >>>>>>> REPLACE         also UPDATED, and +++++++ REPLACE
 *
 * They are taken out of the answer before its code blocks are read: their lines may have fences themselves.
 */
import type { Replacement } from "../edit/replace.js";

const BEGIN = /^\s{0,3}(?:<{5,9}|-{5,9})\s*(?:SEARCH|ORIGINAL)\b\s*>?\s*$/;
const DIVIDER = /^\s{0,3}={5,9}\s*$/;
const END = /^\s{0,3}(?:>{5,9}|\+{5,9})\s*(?:REPLACE|UPDATED)\b\s*>?\s*$/;
const MARK = "\u0000edit ";

export interface TakenEdits {
  /** The answer with a marked line for each of them. */
  readonly rest: string;
  readonly edits: readonly Replacement[];
  readonly problems: readonly string[];
}

export function takeEdits(answer: string): TakenEdits {
  const lines = answer.replaceAll("\u0000", "").split(/\r?\n/);
  const rest: string[] = [];
  const edits: Replacement[] = [];
  const problems: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (!BEGIN.test(line)) {
      rest.push(line);
      continue;
    }
    const read = readEdit(lines, at);
    if ("problem" in read) problems.push(read.problem);
    else rest.push(`${MARK}${edits.push(read.edit) - 1}`);
    // The line numbers of later blocks stay as they are.
    while (rest.length <= read.last) rest.push("");
    at = read.last;
  }
  return { rest: rest.join("\n"), edits, problems };
}

/** The number of the edit that a line stands for. */
export function markedEdit(line: string): number | undefined {
  return line.startsWith(MARK) ? Number(line.slice(MARK.length)) : undefined;
}

type ReadEdit =
  | { readonly edit: Replacement; readonly last: number }
  | { readonly problem: string; readonly last: number };

function readEdit(lines: readonly string[], first: number): ReadEdit {
  const end = lines.findIndex((line, index) => index > first && END.test(line));
  const next = lines.findIndex((line, index) => index > first && BEGIN.test(line));
  const where = `The SEARCH block at line ${first + 1}`;
  if (end < 0 || (next >= 0 && next < end)) return { problem: `${where} has no end.`, last: first };
  const inside = lines.slice(first + 1, end);
  const dividers = inside.flatMap((line, index) => (DIVIDER.test(line) ? [index] : []));
  const [divider] = dividers;
  if (divider === undefined || dividers.length > 1)
    return { problem: `${where} must have one line with =======.`, last: end };
  const text = (part: readonly string[]) => part.map((line) => `${line}\n`).join("");
  return { edit: { old: text(inside.slice(0, divider)), new: text(inside.slice(divider + 1)) }, last: end };
}
