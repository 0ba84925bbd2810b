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

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;

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
    const isAlike = fence.startsWith(open.fence[0] ?? " ") && fence.length >= open.fence.length;
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

function openBlock(begin: Pick<OpenBlock, "fence" | "indent" | "info" | "line">): OpenBlock {
  return { ...begin, lines: [], isUnclear: false };
}

function blockOf({ info, line, lines, isUnclear }: OpenBlock, above: string): CodeBlock {
  return { info, content: lines.map((each) => `${each}\n`).join(""), above, line, isUnclear };
}
