/** The sections of a Markdown document: from one heading to the next, with the headings above as their title. */
import type { Section } from "./chunk.js";

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const UNDERLINE = /^ {0,3}(=+|-+)\s*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

interface Heading {
  readonly at: number;
  readonly depth: number;
  readonly text: string;
}

export function markdownSections(lines: readonly string[]): readonly Section[] {
  const { headings, paragraphs } = outline(lines);
  const above: Heading[] = [];
  const sections: Section[] = [];
  const starts = [{ at: frontMatterEnd(lines), depth: 7, text: "" }, ...headings];
  if (starts[0]?.at !== 0) sections.push({ title: "", from: 0, to: starts[0]?.at ?? 0 });
  for (const [i, heading] of starts.entries()) {
    while ((above.at(-1)?.depth ?? 0) >= heading.depth) above.pop();
    if (heading.text !== "") above.push(heading);
    const to = starts[i + 1]?.at ?? lines.length;
    if (to <= heading.at) continue;
    const title = above.map(({ text }) => text).join(" › ");
    sections.push({ title, from: heading.at, to, cuts: [paragraphs] });
  }
  return sections;
}

/** Headings, and where paragraphs begin, outside of code blocks. */
function outline(lines: readonly string[]) {
  const headings: Heading[] = [];
  const paragraphs: number[] = [];
  let fence: string | undefined;
  for (let i = frontMatterEnd(lines); i < lines.length; i++) {
    const line = lines[i] as string;
    const mark = FENCE.exec(line)?.[1];
    const isStart = fence === undefined && line.trim() !== "" && (lines[i - 1] ?? "").trim() === "";
    if (isStart) paragraphs.push(i);
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    const [, marks, text] = HEADING.exec(line) ?? [];
    if (marks !== undefined) headings.push({ at: i, depth: marks.length, text: plain(text ?? "") });
    else if (isUnderlined(lines, i)) {
      headings.push({ at: i, depth: lines[i + 1]?.trim().startsWith("=") ? 1 : 2, text: plain(line.trim()) });
    }
  }
  return { headings, paragraphs };
}

/** A line of text with a line of `=` or `-` below it. */
function isUnderlined(lines: readonly string[], i: number): boolean {
  const [before, line, next] = [lines[i - 1] ?? "", lines[i] ?? "", lines[i + 1] ?? ""];
  return before.trim() === "" && /^ {0,3}[^\s#>|*+-]/.test(line) && UNDERLINE.test(next) && next.trim().length > 1;
}

function frontMatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---");
  return end === -1 || end > 200 ? 0 : end + 1;
}

/** A heading without its marks for emphasis, code and links. */
function plain(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]|<[^>]*>/g, "")
    .trim()
    .slice(0, 100);
}
