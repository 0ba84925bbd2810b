/** The fenced blocks of an answer, and the text between them. */

export interface CodeBlock {
  /** The words after the fence: `ts src/a.ts`. */
  readonly info: string;
  readonly content: string;
  /** The last line with text between the block before it and its fence. */
  readonly above: string;
  /** The number of its fence's line, from 1. */
  readonly line: number;
  /** It has a line that opens another block with such a fence, so where it ends is not clear. */
  readonly isUnclear: boolean;
}

export type Segment =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "block"; readonly block: CodeBlock }
  /** A block without an end is not complete. */
  | { readonly kind: "unfinished"; readonly block: CodeBlock };

interface OpenBlock {
  readonly fence: string;
  readonly indent: number;
  readonly info: string;
  readonly line: number;
  readonly lines: string[];
  isUnclear: boolean;
}

/** In a list, fences are indented. */
const FENCE = /^( {0,12})(`{3,}|~{3,})(.*)$/;
const MOST_EXTRA_INDENT = 3;

/** Some local models write what they think into the answer, with drafts of code. Line numbers stay as they are. */
export function withoutThoughts(answer: string): string {
  return answer.replace(/^\s*<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/i, (thoughts) =>
    thoughts.replace(/[^\n]/g, ""),
  );
}

/** The complete blocks. */
export function codeBlocks(answer: string): readonly CodeBlock[] {
  return segmentsOf(answer).flatMap((segment) => (segment.kind === "block" ? [segment.block] : []));
}

export function segmentsOf(answer: string): readonly Segment[] {
  const segments: Segment[] = [];
  let above = "";
  let open: OpenBlock | undefined;
  for (const [index, line] of answer.split(/\r?\n/).entries()) {
    const [, indent = "", fence = "", info = ""] = FENCE.exec(line) ?? [];
    // An info string with a backtick is inline code.
    const opens = fence !== "" && !(fence.startsWith("`") && info.includes("`"));
    if (open === undefined) {
      if (opens) open = openBlock({ fence, indent: indent.length, info: info.trim(), line: index + 1 });
      else segments.push({ kind: "line", text: line });
      if (!opens && line.trim() !== "") above = line.trim();
      continue;
    }
    const isAlike = isLikeFence(open, { fence, indent: indent.length });
    if (isAlike && info.trim() === "") {
      segments.push({ kind: "block", block: blockOf(open, above) });
      open = undefined;
      above = "";
      continue;
    }
    open.isUnclear ||= isAlike && opens;
    open.lines.push(line.replace(new RegExp(`^ {0,${open.indent}}`), ""));
  }
  return open === undefined ? segments : [...segments, { kind: "unfinished", block: blockOf(open, above) }];
}

/** A fence that is indented more than the first one is text of the block. */
function isLikeFence(open: OpenBlock, { fence, indent }: { readonly fence: string; readonly indent: number }): boolean {
  const isLong = fence.startsWith(open.fence[0] ?? " ") && fence.length >= open.fence.length;
  return isLong && indent <= open.indent + MOST_EXTRA_INDENT;
}

function openBlock(begin: Pick<OpenBlock, "fence" | "indent" | "info" | "line">): OpenBlock {
  return { ...begin, lines: [], isUnclear: false };
}

function blockOf({ info, line, lines, isUnclear }: OpenBlock, above: string): CodeBlock {
  return { info, content: lines.map((each) => `${each}\n`).join(""), above, line, isUnclear };
}
