/**
 * Markdown laid out line by line, as it arrives.
 *
 * 1. `line` takes one line of the source. Every screen line that later text cannot change goes to the page at once.
 * 2. Little is held back: the last lines of a paragraph, or the rows of a table.
 * 3. Blank lines are those of the source, never two in a row. One is added around code, tables, quotes and before headings.
 */
import { type Container, nextNumber } from "./containers.js";
import { FencedCode } from "./fenced-code.js";
import { GrowingTable } from "./growing-table.js";
import {
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
import type { Page } from "./page.js";
import { Paragraph } from "./paragraph.js";
import { isPlain, span } from "./spans.js";

/** One line of the source, or a piece of a very long one. */
export interface SourceLine {
  readonly text: string;
  /** More of the same line follows. */
  readonly isOpen?: boolean;
  /** It continues the last piece. */
  readonly continues?: boolean;
}

type Leaf =
  | { readonly kind: "none" | "indented" }
  | { readonly kind: "paragraph"; readonly paragraph: Paragraph }
  | { readonly kind: "fence"; readonly code: FencedCode }
  | { readonly kind: "table"; readonly table: GrowingTable };

const MAX_HEADING = 200;

export class MarkdownLayout {
  readonly page: Page;
  #leaf: Leaf = { kind: "none" };
  #nextId = 0;

  constructor(page: Page) {
    this.page = page;
  }

  /** A copy; ending it shows the held lines. */
  fork(): MarkdownLayout {
    const copy = new MarkdownLayout(this.page.fork());
    copy.#leaf = forkLeaf(this.#leaf);
    copy.#nextId = this.#nextId;
    return copy;
  }

  line({ text, isOpen = false, continues = false }: SourceLine): void {
    if (continues) this.#continue(text, isOpen);
    else this.#start(withoutLeadingTabs(text), isOpen);
  }

  end(): void {
    this.#closeLeaf();
    this.page.containers = [];
  }

  #start(line: string, isOpen: boolean): void {
    const { matched, rest } = this.#match(line);
    const isInside = matched === this.page.containers.length;
    if (this.#leaf.kind === "fence" && isInside) {
      if (this.#leaf.code.line({ text: rest, isOpen }, this.page) === "closed") this.#leaf = { kind: "none" };
      return;
    }
    if (rest.trim() === "") {
      this.#closeLeaf();
      this.page.containers.length = matched;
      this.page.isBlank = true;
      return;
    }
    if (!isInside) {
      if (this.#leaf.kind === "paragraph" && !startsBlock(rest)) {
        this.#leaf.paragraph.addLine(rest.trim(), this.page.place());
        return;
      }
      this.#closeLeaf();
    }
    const sibling = this.page.containers[matched];
    this.page.containers.length = matched;
    this.#leafLine(this.#openContainers(rest, sibling), isOpen);
  }

  #continue(part: string, isOpen: boolean): void {
    const leaf = this.#leaf;
    if (leaf.kind === "paragraph") leaf.paragraph.addPart(part, this.page.place());
    else if (leaf.kind === "fence") leaf.code.part({ text: part, isOpen }, this.page);
    else if (leaf.kind === "table") leaf.table.extend(part);
    else if (part !== "") this.page.write([span(part)], "anywhere");
  }

  /** How many of the open containers contain the line, and the rest of the line. */
  #match(line: string): { matched: number; rest: string } {
    let rest = line;
    let matched = 0;
    for (const container of this.page.containers) {
      if (container.kind === "quote") {
        const inner = quoted(rest);
        if (inner === undefined) break;
        rest = withoutLeadingTabs(inner);
      } else if (rest.trim() === "") rest = "";
      else {
        const indent = indentOf(rest);
        // Many models indent the items below `1.` by two.
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
        this.page.containers.push({ kind: "quote", id: this.#nextId++ });
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
    this.page.containers.push({
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
      leaf.table.add(rest, this.page);
      return;
    }
    if (rest.trim() === "") {
      // An item without text shows its mark.
      if (this.page.containers.at(-1)?.kind === "item" && leaf.kind === "none") this.page.emit("prose", []);
      return;
    }
    const fence = isOpen ? undefined : fenceStart(rest);
    const title = isOpen ? undefined : heading(rest);
    if (fence !== undefined) {
      this.#closeLeaf();
      this.#leaf = { kind: "fence", code: new FencedCode(fence, this.page.view.tools) };
    } else if (title !== undefined) {
      this.#closeLeaf();
      this.#heading(title.level, title.text);
    } else if (isRule(rest)) {
      this.#closeLeaf();
      this.page.emit(
        "rule",
        [span((this.page.view.theme.ascii ? "-" : "─").repeat(this.page.place().width), "dim")],
        "anywhere",
      );
    } else if (leaf.kind === "paragraph") leaf.paragraph.addLine(rest.trim(), this.page.place());
    else this.#startText(rest);
  }

  #startText(rest: string): void {
    const isIndented = indentOf(rest) >= 4;
    if (this.#leaf.kind !== "indented") this.#closeLeaf();
    if (isIndented) {
      if (this.#leaf.kind !== "indented") this.page.gap("code");
      this.#leaf = { kind: "indented" };
      this.page.write([span(rest.slice(4))], "anywhere");
      return;
    }
    this.#closeLeaf();
    this.#leaf = { kind: "paragraph", paragraph: new Paragraph(rest.trim()) };
  }

  /** Whether the line turns the text before it into a heading or a table. */
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
    this.#leaf = { kind: "table", table: new GrowingTable(align, head) };
    return true;
  }

  #heading(level: number, text: string): void {
    const { theme } = this.page.view;
    const marks = isPlain(theme) ? `${"#".repeat(level)} ` : "";
    const place = this.page.place("heading");
    const paragraph = new Paragraph(marks + text);
    paragraph.end({
      ...place,
      emit: (spans) => place.emit(spans.map((each) => ({ ...each, roles: [...each.roles, "heading"] }))),
    });
  }

  #closeLeaf(): void {
    const leaf = this.#leaf;
    this.#leaf = { kind: "none" };
    if (leaf.kind === "paragraph") leaf.paragraph.end(this.page.place());
    else if (leaf.kind === "fence") leaf.code.end(this.page);
    else if (leaf.kind === "table") leaf.table.end(this.page);
  }
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
  if (leaf.kind === "fence") return { kind: "fence", code: leaf.code.fork() };
  return leaf.kind === "table" ? { kind: "table", table: leaf.table.fork() } : leaf;
}

function withoutLeadingTabs(line: string): string {
  const lead = /^[ \t]*\t[ \t]*/.exec(line)?.[0];
  if (lead === undefined) return line;
  let column = 0;
  for (const char of lead) column += char === "\t" ? 4 - (column % 4) : 1;
  return " ".repeat(column) + line.slice(lead.length);
}
