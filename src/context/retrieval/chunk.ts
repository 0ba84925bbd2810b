/**
 * Cuts a document into chunks that are worth finding on their own.
 *
 * 1. The lines of the chunks, one after another, are the lines of the document: nothing is lost and nothing is in two chunks. Only blank
 *    lines between chunks are left out.
 * 2. No chunk is heavier than MOST: a line that is too long is cut.
 * 3. Markdown is cut at its headings and never within a code block that fits; code is cut before declarations, with the comments that belong to them.
 */
import { codeSections } from "./code-sections.js";
import { markdownSections } from "./markdown-sections.js";

export interface Chunk {
  /** Says what it is about: the headings above it, or the declared name; empty when unknown. */
  readonly title: string;
  readonly text: string;
  /** Counted from 1. */
  readonly firstLine: number;
  readonly lastLine: number;
}

export type DocumentKind = "markdown" | "code" | "text";

/** A run of lines that belongs together. */
export interface Section {
  readonly title: string;
  /** Index of its first line. */
  readonly from: number;
  /** Index behind its last line. */
  readonly to: number;
  /** The places where it may be cut if it is too large, best places first. */
  readonly cuts?: readonly (readonly number[])[];
}

/** About 300 and 400 tokens: embedding models read 512 at least. */
const GOOD = 1200;
const MOST = 1600;

const CODE =
  /\.(?:[cm]?[jt]sx?|py|pyi|rb|go|rs|java|kts?|scala|swift|c|h|cc|cpp|cxx|hpp|hh|cs|php|pl|pm|lua|dart|ex|exs|erl|hs|ml|mli|clj|cljs|groovy|r|jl|sh|bash|zsh|fish|ps1|sql|vue|svelte|zig|nim|proto|graphql|tf|m|mm)$/i;

export function kindOf(path: string): DocumentKind {
  if (/\.(?:md|mdx|markdown|mdown|qmd|html?|xhtml)$/i.test(path)) return "markdown";
  return CODE.test(path) ? "code" : "text";
}

export function chunkDocument(text: string, kind: DocumentKind): readonly Chunk[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  const sections = sectionsOf(lines, kind).flatMap((section) => cutDown(section, lines));
  return merge(sections, lines).flatMap((section) => chunksOf(section, lines));
}

function sectionsOf(lines: readonly string[], kind: DocumentKind): readonly Section[] {
  if (kind === "markdown") return markdownSections(lines);
  if (kind === "code") return codeSections(lines);
  return [{ title: "", from: 0, to: lines.length, cuts: [paragraphs(lines, 0, lines.length)] }];
}

/** Characters; letters outside ASCII take about three times as many tokens. */
export function weightOf(text: string): number {
  let weight = text.length;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x2ff) weight += 2;
  return weight;
}

function weightOfLines(lines: readonly string[], from: number, to: number): number {
  let weight = 0;
  for (let i = from; i < to; i++) weight += weightOf(lines[i] as string) + 1;
  return weight;
}

/** Lines that begin a paragraph. */
function paragraphs(lines: readonly string[], from: number, to: number): readonly number[] {
  const starts: number[] = [];
  for (let i = from + 1; i < to; i++) if (isBlank(lines[i - 1]) && !isBlank(lines[i])) starts.push(i);
  return starts;
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === "";
}

/** Pieces of at most MOST, cut at the best places; a single line may be heavier. */
function cutDown(section: Section, lines: readonly string[]): readonly Section[] {
  const { title, from, to, cuts = [] } = section;
  if (to - from < 2 || weightOfLines(lines, from, to) <= MOST) return [section];
  const [best, ...others] = cuts;
  const places = best === undefined ? everyLine(from, to) : best.filter((at) => at > from && at < to);
  if (places.length === 0) return cutDown({ title, from, to, cuts: others }, lines);
  const edges = [from, ...places, to];
  const pieces = edges.slice(1).map((end, i) => ({ title, from: edges[i] as number, to: end, cuts: others }));
  return packed(pieces, lines).flatMap((piece) => cutDown(piece, lines));
}

function everyLine(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from - 1 }, (_, i) => from + 1 + i);
}

/** Neighbours of one section together, up to the good size. */
function packed(pieces: readonly Section[], lines: readonly string[]): readonly Section[] {
  const out: Section[] = [];
  let weight = 0;
  for (const piece of pieces) {
    const own = weightOfLines(lines, piece.from, piece.to);
    const last = out.at(-1);
    if (last !== undefined && weight + own <= GOOD) {
      out[out.length - 1] = { ...last, to: piece.to };
      weight += own;
    } else {
      out.push(piece);
      weight = own;
    }
  }
  return out;
}

const SMALL = 300;

/** A small section joins the one before it: a heading with one sentence says little by itself. */
function merge(sections: readonly Section[], lines: readonly string[]): readonly Section[] {
  const out: Section[] = [];
  let weight = 0;
  for (const section of sections) {
    const own = weightOfLines(lines, section.from, section.to);
    const last = out.at(-1);
    if (last !== undefined && weight + own <= GOOD && (own < SMALL || weight < SMALL)) {
      out[out.length - 1] = { ...last, title: joinedTitle(last.title, section.title), to: section.to };
      weight += own;
    } else {
      out.push(section);
      weight = own;
    }
  }
  return out;
}

const MOST_TITLE = 200;

function joinedTitle(one: string, other: string): string {
  if (one === other || other === "" || one.endsWith(`, ${other}`)) return one;
  if (one === "") return other;
  const all = `${one}, ${other}`;
  return all.length > MOST_TITLE ? one : all;
}

/** One chunk, several for a line that is too long, none for blank lines. */
function chunksOf({ title, from, to }: Section, lines: readonly string[]): readonly Chunk[] {
  let [first, last] = [from, to - 1];
  while (first <= last && isBlank(lines[first])) first++;
  while (last >= first && isBlank(lines[last])) last--;
  if (first > last) return [];
  const text = lines.slice(first, last + 1).join("\n");
  const place = { title: title.slice(0, MOST_TITLE), firstLine: first + 1, lastLine: last + 1 };
  if (weightOf(text) <= MOST) return [{ ...place, text }];
  return longPieces(text).map((piece) => ({ ...place, text: piece }));
}

/** At blanks where there are some, and never within a character. */
function longPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    let [end, weight] = [start, 0];
    while (end < text.length && weight < GOOD) weight += text.charCodeAt(end++) > 0x2ff ? 3 : 1;
    if (end < text.length) {
      const blank = text.lastIndexOf(" ", end);
      if (blank > start + (end - start) / 2) end = blank + 1;
      else if ((text.charCodeAt(end) & 0xfc00) === 0xdc00) end++;
    }
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces.filter((piece) => piece.trim() !== "");
}
