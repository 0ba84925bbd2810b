/** Blocks of Markdown as lines: lexed by marked, laid out for a width. */
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { textWidth } from "../../../base/text-width.js";
import type { Theme } from "../theme.js";
import { LEXING, spansOf } from "./inline.js";
import { languageOf, listMarker, tableCells, tableRule } from "./markdown-lines.js";
import { codeMarkOf, isPlain, type Span, span } from "./spans.js";
import { layoutTable } from "./table.js";
import type { ContentTools } from "./tools.js";
import { wrapSpans } from "./wrap.js";

export interface LayoutView {
  readonly width: number;
  readonly theme: Theme;
  readonly tools: ContentTools;
  /** Prose and code without indentation are left to the terminal's own wrap. */
  readonly soft?: boolean | undefined;
}

export type Kind = "prose" | "heading" | "code" | "table" | "rule" | "quote";

/** Some blocks that follow each other. */
export interface Laid {
  readonly lines: readonly string[];
  readonly first: Kind;
  readonly last: Kind;
}

/** The item before, so that numbers count on: many models write `1.` before every item. */
export interface Counted {
  readonly sign: string;
  readonly number: number | undefined;
}

export interface BlockView extends LayoutView {
  readonly isQuoted?: boolean;
}

/** If less space is left for text, deeper nesting is not indented further. */
const LEAST_TEXT = 16;
/** Deeper nesting is shown as it is written: the lexer would take long. */
const DEEPEST = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])){40}/m;

/** Undefined if there is nothing to show. */
export function layoutBlocks(source: string, view: BlockView, before?: Counted): Laid | undefined {
  return DEEPEST.test(source)
    ? layoutProse([span(source)], view)
    : layoutTokens(new Lexer(LEXING).lex(source), view, before);
}

export function layoutProse(spans: readonly Span[], { width, theme, soft, isQuoted = false }: BlockView): Laid {
  const shown = isQuoted ? spans.map((each) => ({ ...each, roles: [...each.roles, "quote" as const] })) : spans;
  return { lines: wrapSpans(shown, { width, theme, soft }), first: "prose", last: "prose" };
}

/** Whether a blank line goes between two blocks where the source has none. */
export function needsGap(last: Kind, next: Kind): boolean {
  const isApart = (kind: Kind) => kind === "code" || kind === "table" || kind === "rule" || kind === "quote";
  return isApart(last) || isApart(next) || next === "heading";
}

/** Puts blocks below each other. */
class Stack {
  readonly lines: string[] = [];
  first: Kind | undefined;
  last: Kind | undefined;
  isBlank = false;

  add({ lines, first, last }: Laid): void {
    if (this.last !== undefined && (this.isBlank || needsGap(this.last, first))) this.lines.push("");
    for (const line of lines) this.lines.push(line);
    this.first ??= first;
    this.last = last;
    this.isBlank = false;
  }

  get laid(): Laid | undefined {
    if (this.first === undefined || this.last === undefined) return undefined;
    return { lines: this.lines, first: this.first, last: this.last };
  }
}

function layoutTokens(tokens: readonly Token[], view: BlockView, before?: Counted): Laid | undefined {
  const stack = new Stack();
  for (const token of tokens as readonly MarkedToken[]) {
    if (token.type === "list") addItems(stack, token, { view, before });
    else {
      const laid = layoutToken(token, view);
      if (laid !== undefined) stack.add(laid);
    }
    // Some blocks take the blank lines after them.
    if (token.type === "space" || /\n[ \t]*\n\s*$/.test(token.raw)) stack.isBlank = true;
  }
  return stack.laid;
}

function layoutToken(token: MarkedToken, view: BlockView): Laid | undefined {
  const { theme, width } = view;
  switch (token.type) {
    case "space":
    case "checkbox":
      return undefined;
    case "heading": {
      const marks = isPlain(theme) ? [span(`${"#".repeat(token.depth)} `)] : [];
      const spans = [...marks, ...spansOf(token.tokens, codeMarkOf(theme))];
      const shown = spans.map((each) => ({ ...each, roles: [...each.roles, "heading" as const] }));
      return { lines: wrapSpans(shown, view), first: "heading", last: "heading" };
    }
    case "hr":
      return { lines: [theme.dim("─".repeat(width))], first: "rule", last: "rule" };
    case "code":
      return layoutCode(token, view);
    case "table":
      return layoutRows(token.raw, view)?.laid;
    case "blockquote": {
      const { inner, frame } = framed("│ ", view, theme.quote);
      const laid = layoutTokens(token.tokens, { ...inner, isQuoted: true });
      return laid && { lines: frame(laid.lines, { isFirst: false }), first: "quote", last: "quote" };
    }
    default:
      return layoutProse("tokens" in token ? spansOf(token.tokens, codeMarkOf(theme)) : [span(token.raw)], view);
  }
}

function addItems(
  stack: Stack,
  list: Tokens.List,
  { view, before }: { view: BlockView; before?: Counted | undefined },
) {
  let counted = before;
  for (const item of list.items) {
    counted = countOf(item.raw, counted);
    const { inner, frame } = framed(itemMark(item, counted), view, view.theme.accent);
    const laid = layoutTokens(item.tokens, inner) ?? { lines: [""], first: "prose", last: "prose" };
    stack.add({ ...laid, lines: frame(laid.lines, { isFirst: true }) });
    if (/\n[ \t]*\n\s*$/.test(item.raw)) stack.isBlank = true;
  }
}

export function countOf(source: string, before: Counted | undefined): Counted {
  const { sign, number } = listMarker(source.slice(0, source.search(/\n|$/))) ?? { sign: "-", number: undefined };
  if (number === undefined || before?.sign !== sign || before.number === undefined) return { sign, number };
  return { sign, number: Math.max(number, before.number + 1) };
}

function itemMark({ task, checked }: Tokens.ListItem, { sign, number }: Counted): string {
  if (task) return checked ? "☑ " : "☐ ";
  return number === undefined ? "- " : `${number}${sign} `;
}

/** A mark before the first line, or before all lines of a quote. A narrow screen shows the lines without it. */
function framed(mark: string, view: BlockView, paint: (text: string) => string) {
  const cells = textWidth(mark);
  const inner = { ...view, width: view.width - cells, soft: false };
  if (inner.width < (view.isQuoted === undefined ? 2 : LEAST_TEXT))
    return { inner: { ...view, isQuoted: view.isQuoted ?? false }, frame: (lines: readonly string[]) => lines };
  const frame = (lines: readonly string[], { isFirst }: { readonly isFirst: boolean }) =>
    lines.map((line, index) => {
      if (isFirst && index > 0) return line === "" ? "" : " ".repeat(cells) + line;
      return line === "" ? paint(mark.trimEnd()) : paint(mark) + line;
    });
  return { inner: { ...inner, isQuoted: view.isQuoted ?? false }, frame };
}

function layoutCode({ text, lang }: Tokens.Code, { width, theme, tools, soft }: BlockView): Laid | undefined {
  let highlighter = tools.highlighter(languageOf(lang ?? ""));
  const lines = text === "" ? [] : text.split("\n");
  const shown = lines.flatMap((line) => {
    const { spans, next } = highlighter.line(line);
    highlighter = next;
    return wrapSpans(spans, { width, theme, soft, at: "anywhere" });
  });
  return shown.length === 0 ? undefined : { lines: shown, first: "code", last: "code" };
}

/** Rows after the head and the line below it. `columns` are those of an earlier part, which had the head. */
export function layoutRows(
  source: string,
  view: BlockView,
  columns?: readonly number[],
): { readonly laid: Laid; readonly columns: readonly number[] | undefined } | undefined {
  const [head = "", rule = "", ...rows] = source.split("\n");
  const align = tableRule(rule);
  if (align === undefined) return undefined;
  const cells = rows.filter((row) => row.trim() !== "").map(tableCells);
  const { width, theme } = view;
  const table = layoutTable({ align, head: tableCells(head), rows: cells }, { width, theme }, { columns });
  return { laid: { lines: table.lines, first: "table", last: "table" }, columns: table.columns };
}
