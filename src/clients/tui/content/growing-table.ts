/** A table whose rows arrive one by one. It is laid out at its end, or in parts if it is very long. */
import { type Align, tableCells } from "./markdown-lines.js";
import type { Page } from "./page.js";
import { layoutTable } from "./table.js";

/** Later rows use the column widths of the first ones. */
const MAX_ROWS = 200;
/** The rows to show of an unfinished table. */
const DRAFT_ROWS = 12;

export class GrowingTable {
  readonly #align: readonly Align[];
  readonly #head: readonly string[];
  #rows: string[] = [];
  #columns: readonly number[] | undefined;
  #isStarted = false;

  constructor(align: readonly Align[], head: readonly string[]) {
    this.#align = align;
    this.#head = head;
  }

  fork(): GrowingTable {
    const copy = new GrowingTable(this.#align, this.#head);
    copy.#rows = [...this.#rows];
    copy.#columns = this.#columns;
    copy.#isStarted = this.#isStarted;
    return copy;
  }

  add(row: string, page: Page): void {
    this.#rows.push(row);
    if (this.#rows.length > MAX_ROWS) this.#write(this.#rows.splice(0, MAX_ROWS), page);
  }

  /** Extends the last row. */
  extend(part: string): void {
    this.#rows.push((this.#rows.pop() ?? "") + part);
  }

  end(page: Page): void {
    if (this.#rows.length > 0 || !this.#isStarted) this.#write(this.#rows, page);
  }

  #write(rows: readonly string[], page: Page): void {
    if (!this.#isStarted) page.gap("table");
    const shown = page.isDraft ? rows.slice(-DRAFT_ROWS) : rows;
    const source = { align: this.#align, head: this.#head, rows: shown.map(tableCells) };
    const view = { width: page.place().width, theme: page.view.theme };
    const { lines, columns } = layoutTable(source, view, { columns: this.#columns });
    page.writeLines(lines);
    this.#columns = columns;
    this.#isStarted = true;
  }
}
