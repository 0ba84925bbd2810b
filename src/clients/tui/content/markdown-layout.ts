/**
 * Markdown laid out line by line, as it arrives.
 *
 * 1. `line` takes one line of the source. Every line on the screen that later text cannot change goes to `out` at once.
 * 2. What waits is small: the last lines of a paragraph, at most `TABLE_ROWS` rows of a table.
 * 3. Blank lines are those of the source, never two in a row. One is added around code, tables, quotes and before headings.
 */
import type { Theme } from "../theme.js";
import { type Container, nextNumber, prefixOf } from "./containers.js";
import {
  type Align,
  endsFence,
  type Fence,
  fenceStart,
  heading,
  indentOf,
  isRule,
  type ListMarker,
  listMarker,
  quoted,
  tableCells,
  tableRule,
  underline,
} from "./markdown-lines.js";
import { Paragraph, type Place } from "./paragraph.js";
import { codeMarkOf, isPlain, type Span, span } from "./spans.js";
import { layoutTable } from "./table.js";
import type { ContentTools, Highlighter } from "./tools.js";
import { breakLine, wrapSpans } from "./wrap.js";

export interface LayoutView {
  readonly width: number;
  readonly theme: Theme;
  readonly tools: ContentTools;
}

/** One line of the source, or a piece of a very long one. */
export interface SourceLine {
  readonly text: string;
  /** More of the same line follows. */
  readonly isOpen?: boolean;
  /** It goes on where the last piece ended. */
  readonly continues?: boolean;
}

type LeafKind = "prose" | "heading" | "code" | "table" | "rule";

type Leaf =
  | { readonly kind: "none" }
  | { readonly kind: "paragraph"; readonly paragraph: Paragraph }
  | { readonly kind: "fence"; readonly fence: Fence; highlighter: Highlighter; isEmpty: boolean; carry: string }
  | { readonly kind: "indented" }
  | {
      readonly kind: "table";
      readonly align: readonly Align[];
      readonly head: readonly string[];
      rows: string[];
      columns: readonly number[] | undefined;
      isStarted: boolean;
    };

/** Then the rows are laid out in the columns of the first ones. */
const TABLE_ROWS = 200;
/** Of a table that is not finished, so many rows are shown. */
const LIVE_ROWS = 12;
const MAX_HEADING = 200;

export class MarkdownLayout {
  /** Lines for the screen, until the caller takes them. */
  out: string[] = [];
  view: LayoutView;
  #containers: Container[] = [];
  #leaf: Leaf = { kind: "none" };
  #blank = false;
  #last: { readonly kind: LeafKind; readonly containers: readonly Container[] } | undefined;
  #nextId = 0;
  #isFork = false;

  constructor(view: LayoutView) {
    this.view = view;
  }

  /** A copy that can be ended to see what waits. */
  fork(): MarkdownLayout {
    const copy = new MarkdownLayout(this.view);
    copy.#containers = this.#containers.map((container) => ({ ...container }));
    copy.#leaf = forkLeaf(this.#leaf);
    copy.#blank = this.#blank;
    copy.#last = this.#last;
    copy.#nextId = this.#nextId;
    copy.#isFork = true;
    return copy;
  }

  line({ text, isOpen = false, continues = false }: SourceLine): void {
    if (continues) this.#continue(text, isOpen);
    else this.#start(withoutLeadingTabs(text), isOpen);
  }

  end(): void {
    this.#closeLeaf();
    this.#containers = [];
  }

  #start(line: string, isOpen: boolean): void {
    const { matched, rest } = this.#match(line);
    const isInside = matched === this.#containers.length;
    if (this.#leaf.kind === "fence" && isInside) {
      this.#fenceLine(this.#leaf, rest, isOpen);
      return;
    }
    if (rest.trim() === "") {
      this.#closeLeaf();
      this.#containers.length = matched;
      this.#blank = true;
      return;
    }
    if (!isInside) {
      if (this.#leaf.kind === "paragraph" && !startsBlock(rest)) {
        this.#leaf.paragraph.addLine(rest.trim(), this.#place());
        return;
      }
      this.#closeLeaf();
    }
    const sibling = this.#containers[matched];
    this.#containers.length = matched;
    this.#leafLine(this.#openContainers(rest, sibling), isOpen);
  }

  #continue(part: string, isOpen: boolean): void {
    const leaf = this.#leaf;
    if (leaf.kind === "paragraph") leaf.paragraph.addPart(part, this.#place());
    else if (leaf.kind === "fence") this.#codePart(leaf, part, isOpen);
    else if (leaf.kind === "table") leaf.rows.push((leaf.rows.pop() ?? "") + part);
    else if (part !== "") this.#write([span(part)], "anywhere");
  }

  /** How many of the open containers the line is in, and what is left of it. */
  #match(line: string): { matched: number; rest: string } {
    let rest = line;
    let matched = 0;
    for (const container of this.#containers) {
      if (container.kind === "quote") {
        const inner = quoted(rest);
        if (inner === undefined) break;
        rest = withoutLeadingTabs(inner);
      } else if (rest.trim() === "") rest = "";
      else {
        const indent = indentOf(rest);
        // Many write the items below `1.` with an indent of two.
        const isNested =
          indent >= Math.min(2, container.indent) && listMarker(rest) !== undefined && indent > container.lead;
        if (indent < container.indent && !isNested) break;
        rest = rest.slice(Math.min(indent, container.indent));
      }
      matched++;
    }
    return { matched, rest };
  }

  #openContainers(line: string, sibling: Container | undefined): string {
    let rest = line;
    let before = sibling;
    for (;;) {
      const inner = quoted(rest);
      if (inner !== undefined) {
        this.#closeLeaf();
        this.#containers.push({ kind: "quote", id: this.#nextId++ });
        rest = withoutLeadingTabs(inner);
      } else {
        const marker = listMarker(rest);
        if (marker === undefined || !this.#mayStartList(marker, before)) return rest;
        this.#closeLeaf();
        rest = this.#openItem(marker, { lead: indentOf(rest), sibling: before });
      }
      before = undefined;
    }
  }

  /** In the middle of a paragraph, a number or an empty bullet is text. */
  #mayStartList(marker: ListMarker, sibling: Container | undefined): boolean {
    if (this.#leaf.kind !== "paragraph" || sibling !== undefined) return true;
    return marker.rest !== "" && (marker.number === undefined || marker.number === 1);
  }

  #openItem(marker: ListMarker, { lead, sibling }: { lead: number; sibling: Container | undefined }): string {
    const task = /^\[([ xX])\] +(?=\S)/.exec(marker.rest);
    this.#containers.push({
      kind: "item",
      id: this.#nextId++,
      lead,
      indent: marker.indent,
      sign: marker.sign,
      number: nextNumber(marker, sibling),
      task: task === null ? undefined : task[1] === " " ? "open" : "done",
      isPrinted: false,
    });
    return withoutLeadingTabs(marker.rest.slice(task?.[0].length ?? 0));
  }

  #leafLine(rest: string, isOpen: boolean): void {
    const leaf = this.#leaf;
    if (leaf.kind === "paragraph" && this.#closesAs(leaf.paragraph, rest)) return;
    if (leaf.kind === "table" && rest.includes("|") && !startsBlock(rest)) {
      this.#tableRow(leaf, rest);
      return;
    }
    if (rest.trim() === "") {
      // An item without text shows its mark.
      if (this.#containers.at(-1)?.kind === "item" && leaf.kind === "none") this.#emit("prose", []);
      return;
    }
    const fence = isOpen ? undefined : fenceStart(rest);
    const title = isOpen ? undefined : heading(rest);
    if (fence !== undefined) {
      this.#closeLeaf();
      this.#leaf = {
        kind: "fence",
        fence,
        highlighter: this.view.tools.highlighter(fence.language),
        isEmpty: true,
        carry: "",
      };
    } else if (title !== undefined) {
      this.#closeLeaf();
      this.#heading(title.level, title.text);
    } else if (isRule(rest)) {
      this.#closeLeaf();
      this.#emit("rule", [span((this.view.theme.ascii ? "-" : "─").repeat(this.#place().width), "dim")], "anywhere");
    } else if (leaf.kind === "paragraph") leaf.paragraph.addLine(rest.trim(), this.#place());
    else this.#startText(rest);
  }

  #startText(rest: string): void {
    const isIndented = indentOf(rest) >= 4;
    if (this.#leaf.kind !== "indented") this.#closeLeaf();
    if (isIndented) {
      if (this.#leaf.kind !== "indented") this.#gap("code");
      this.#leaf = { kind: "indented" };
      this.#write([span(rest.slice(4))], "anywhere");
      return;
    }
    this.#closeLeaf();
    this.#leaf = { kind: "paragraph", paragraph: new Paragraph(rest.trim()) };
  }

  /** The line makes a heading or a table of what stands before it. */
  #closesAs(paragraph: Paragraph, line: string): boolean {
    const level = underline(line);
    if (level !== undefined && paragraph.isWhole && paragraph.text.length <= MAX_HEADING) {
      this.#leaf = { kind: "none" };
      this.#heading(level, paragraph.text);
      return true;
    }
    const align = tableRule(line);
    if (align === undefined) return false;
    const head = tableCells(paragraph.lastLine);
    if (head.length !== align.length || !paragraph.lastLine.includes("|")) return false;
    paragraph.text = paragraph.text.slice(0, Math.max(0, paragraph.text.lastIndexOf("\n")));
    this.#closeLeaf();
    this.#leaf = { kind: "table", align, head, rows: [], columns: undefined, isStarted: false };
    return true;
  }

  #heading(level: number, text: string): void {
    const { theme } = this.view;
    const marks = isPlain(theme) ? `${"#".repeat(level)} ` : "";
    const place = this.#place("heading");
    const paragraph = new Paragraph(marks + text);
    paragraph.end({
      ...place,
      emit: (spans) => place.emit(spans.map((each) => ({ ...each, roles: [...each.roles, "heading"] }))),
    });
  }

  #fenceLine(leaf: Leaf & { kind: "fence" }, line: string, isOpen: boolean): void {
    if (!isOpen && endsFence(leaf.fence, line)) {
      this.#leaf = { kind: "none" };
      return;
    }
    const code = line.slice(Math.min(indentOf(line), leaf.fence.indent));
    if (isOpen) this.#codePart(leaf, code, isOpen);
    else this.#codeLine(leaf, code);
  }

  /** Of a very long line, whole rows. */
  #codePart(leaf: Leaf & { kind: "fence" }, part: string, isOpen: boolean): void {
    const text = leaf.carry + part;
    const start = isOpen ? (breakLine(text, this.#place().width, "anywhere").at(-1)?.start ?? 0) : text.length;
    leaf.carry = text.slice(start);
    if (start > 0) this.#codeLine(leaf, text.slice(0, start));
  }

  #codeLine(leaf: Leaf & { kind: "fence" }, line: string): void {
    const { spans, next } = leaf.highlighter.line(line);
    leaf.highlighter = next;
    if (leaf.isEmpty) this.#gap("code");
    leaf.isEmpty = false;
    this.#write(spans, "anywhere");
  }

  #tableRow(leaf: Leaf & { kind: "table" }, line: string): void {
    leaf.rows.push(line);
    if (leaf.rows.length > TABLE_ROWS) this.#writeTable(leaf, leaf.rows.splice(0, TABLE_ROWS));
  }

  #writeTable(leaf: Leaf & { kind: "table" }, rows: readonly string[]): void {
    const { first, rest } = prefixOf(this.#containers, this.view);
    if (!leaf.isStarted) this.#gap("table");
    const shown = this.#isFork ? rows.slice(-LIVE_ROWS) : rows;
    const source = { align: leaf.align, head: leaf.head, rows: shown.map(tableCells) };
    const view = { width: this.view.width - rest.width, theme: this.view.theme };
    const { lines, columns } = layoutTable(source, view, { columns: leaf.columns });
    for (const [index, line] of lines.entries()) {
      this.out.push((index === 0 && !leaf.isStarted ? first.text : rest.text) + line);
    }
    leaf.columns = columns;
    leaf.isStarted = true;
    this.#print();
  }

  #closeLeaf(): void {
    const leaf = this.#leaf;
    this.#leaf = { kind: "none" };
    if (leaf.kind === "paragraph") leaf.paragraph.end(this.#place());
    else if (leaf.kind === "fence" && leaf.carry !== "") this.#codeLine(leaf, leaf.carry);
    else if (leaf.kind === "table" && (leaf.rows.length > 0 || !leaf.isStarted)) this.#writeTable(leaf, leaf.rows);
  }

  #place(kind: LeafKind = "prose"): Place {
    const { first, rest } = prefixOf(this.#containers, this.view);
    return {
      width: Math.max(1, this.view.width - Math.max(first.width, rest.width)),
      codeMark: codeMarkOf(this.view.theme),
      emit: (spans) => this.#emit(kind, this.#inQuote(spans)),
    };
  }

  #inQuote(spans: readonly Span[]): readonly Span[] {
    if (!this.#containers.some(({ kind }) => kind === "quote")) return spans;
    return spans.map((each) => ({ ...each, roles: [...each.roles, "quote"] }));
  }

  #emit(kind: LeafKind, spans: readonly Span[], at: "words" | "anywhere" = "words"): void {
    this.#gap(kind);
    this.#write(spans, at);
  }

  #write(spans: readonly Span[], at: "words" | "anywhere"): void {
    const { width, theme } = this.view;
    this.out.push(...wrapSpans(spans, { width, theme, at, ...prefixOf(this.#containers, this.view) }));
    this.#print();
  }

  #print(): void {
    for (const container of this.#containers) if (container.kind === "item") container.isPrinted = true;
  }

  /** The blank line before what comes, where there is one. */
  #gap(kind: LeafKind): void {
    const last = this.#last;
    if (last !== undefined && (this.#blank || needsGap(last, { kind, containers: this.#containers }))) {
      const shared = this.#containers.filter((each, index) => last.containers[index]?.id === each.id);
      this.out.push(prefixOf(shared, this.view).rest.text.trimEnd());
    }
    this.#blank = false;
    this.#last = { kind, containers: [...this.#containers] };
  }
}

interface Shown {
  readonly kind: LeafKind;
  readonly containers: readonly Container[];
}

function needsGap(last: Shown, next: Shown): boolean {
  const quote = ({ containers }: Shown) => containers.findLast(({ kind }) => kind === "quote")?.id;
  const isApart = (kind: LeafKind) => kind === "code" || kind === "table" || kind === "rule";
  return quote(last) !== quote(next) || isApart(last.kind) || isApart(next.kind) || next.kind === "heading";
}

function startsBlock(line: string): boolean {
  const marker = listMarker(line);
  const isItem = marker !== undefined && marker.rest !== "";
  return (
    isItem ||
    isRule(line) ||
    heading(line) !== undefined ||
    fenceStart(line) !== undefined ||
    quoted(line) !== undefined
  );
}

function forkLeaf(leaf: Leaf): Leaf {
  if (leaf.kind === "paragraph") return { kind: "paragraph", paragraph: leaf.paragraph.fork() };
  return leaf.kind === "table" ? { ...leaf, rows: [...leaf.rows] } : { ...leaf };
}

function withoutLeadingTabs(line: string): string {
  const lead = /^[ \t]*\t[ \t]*/.exec(line)?.[0];
  if (lead === undefined) return line;
  let column = 0;
  for (const char of lead) column += char === "\t" ? 4 - (column % 4) : 1;
  return " ".repeat(column) + line.slice(lead.length);
}
