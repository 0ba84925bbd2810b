/**
 * The sections of a source file: one for each declaration that begins a line, with the comments and decorators above it. It knows no
 * language: in nearly all of them a declaration stands at the left edge and what belongs to it is indented.
 */
import type { Section } from "./chunk.js";

const NAME = "([\\p{L}_$][\\p{L}\\p{N}_$]*(?:(?:\\.|::)[\\p{L}_$][\\p{L}\\p{N}_$]*)*)";
/** Words that may stand before the word that declares. */
const BEFORE =
  "(?:(?:export|default|pub(?:\\([^)]*\\))?|public|private|protected|internal|static|final|abstract|async|declare|unsafe|extern|inline|const|constexpr|virtual|override|open|sealed|data|partial|local|create|or|replace)\\s+)*";
const DECLARES =
  "function\\*?|class|interface|type|enum|namespace|module|def|func|fn|fun|sub|struct|trait|impl|mod|macro_rules!|protocol|extension|object|record|contract|message|service|table|view|procedure|resource|defmodule|defp?|let|var|const|val";
const DECLARATION = new RegExp(
  `^${BEFORE}(?:${DECLARES})\\b[\\s*]*(?:\\([^)]*\\)\\s*)?(?:<[^>]*>\\s*)?["'\`]?${NAME}`,
  "iu",
);
/** `name() {`, `int name(…) {`, `name = function`, `name: (…) =>`. */
const CALLABLE = new RegExp(`${NAME}\\s*(?:=\\s*(?:async\\s*)?function\\b|[:=]\\s*(?:async\\s*)?\\(|\\([^;]*$)`, "u");
const CLOSING = /^\s*(?:[)\]}]|end\b|else\b|catch\b|finally\b|elif\b|except\b|then\b|fi\b|done\b|esac\b)/;
const LEAD = /^\s*(?:\/\/|\/\*|\*|#(?!\s*(?:include|define|if|endif|import|pragma))|--|;;|@|\[<|#\[|"""|''')/;

export function codeSections(lines: readonly string[]): readonly Section[] {
  const starts = declarationStarts(lines, 0, lines.length);
  const edges = [...(starts[0] === 0 ? [] : [0]), ...starts, lines.length];
  const sections: Section[] = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const [from, to] = [edges[i] as number, edges[i + 1] as number];
    if (to > from) sections.push({ title: nameIn(lines, from, to), from, to, cuts: innerCuts(lines, from, to) });
  }
  return sections;
}

/** Lines at the left edge that begin something, moved up to the comments that belong to it. */
function declarationStarts(lines: readonly string[], from: number, to: number): readonly number[] {
  const starts: number[] = [];
  for (let i = from; i < to; i++) {
    const line = lines[i] as string;
    if (!/^[^\s]/.test(line) || CLOSING.test(line) || LEAD.test(line)) continue;
    if (declaredName(line) === undefined) continue;
    starts.push(withLead(lines, i, starts.at(-1) ?? from));
  }
  return [...new Set(starts)];
}

/** The first of the comment and decorator lines right above. */
function withLead(lines: readonly string[], at: number, least: number): number {
  let start = at;
  while (start - 1 > least && LEAD.test(lines[start - 1] as string)) start--;
  return start;
}

/** For a class or a long function: its members, then its paragraphs. */
function innerCuts(lines: readonly string[], from: number, to: number): readonly (readonly number[])[] {
  const depth = innerDepth(lines, from, to);
  const members: number[] = [];
  const paragraphs: number[] = [];
  for (let i = from + 1; i < to; i++) {
    const line = lines[i] as string;
    if (line.trim() === "") continue;
    const isAfterBlank = (lines[i - 1] ?? "").trim() === "";
    if (isAfterBlank) paragraphs.push(i);
    const isMember = indentOf(line) === depth && !CLOSING.test(line) && !LEAD.test(line);
    if (isMember && (isAfterBlank || declaredName(line.trim()) !== undefined)) {
      members.push(withLead(lines, i, from));
    }
  }
  return [[...new Set(members)], paragraphs];
}

/** The indentation of what stands directly within it. */
function innerDepth(lines: readonly string[], from: number, to: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = from + 1; i < to; i++) {
    const indent = indentOf(lines[i] as string);
    if (indent > 0 && (lines[i] as string).trim() !== "") least = Math.min(least, indent);
  }
  return least;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function nameIn(lines: readonly string[], from: number, to: number): string {
  for (let i = from; i < Math.min(to, from + 40); i++) {
    const line = lines[i] as string;
    if (!/^[^\s]/.test(line) || LEAD.test(line)) continue;
    const name = declaredName(line);
    if (name !== undefined) return name.slice(0, 100);
  }
  return "";
}

/** The expressions take too long for the lines of minified files. */
const MOST_LINE = 300;

function declaredName(line: string): string | undefined {
  if (line.length > MOST_LINE) return undefined;
  return DECLARATION.exec(line)?.[1] ?? CALLABLE.exec(line)?.[1];
}
