/** A table as rows of cells. */
import { type Element, isElement } from "./element.js";
import { isUnseen } from "./visible.js";

export interface Row {
  /** Undefined where a cell from above or from the left spans. */
  readonly cells: readonly (Element | undefined)[];
  readonly isHead: boolean;
}

const MAX_COLUMNS = 50;
const MAX_CELLS = 200_000;

/** Undefined if the table is only for layout, or too large. */
export function dataRows(table: Element): readonly Row[] | undefined {
  const role = table.attributes.get("role");
  if (table.rich || role === "presentation" || role === "none") return undefined;
  const rows: Row[] = [];
  /** For each column, how many more rows the cell above spans. */
  const reaching: number[] = [];
  let count = 0;
  for (const { row, inHead } of rowElements(table)) {
    const read = rowOf(row, { inHead, reaching });
    count += read.cells.length;
    if (count > MAX_CELLS) return undefined;
    if (read.cells.length > 0) rows.push(read);
  }
  return rows.some(({ cells }) => cells.length > 1) ? rows : undefined;
}

function* rowElements(parent: Element, inHead = false): Generator<{ row: Element; inHead: boolean }> {
  for (const child of parent.children) {
    if (!isElement(child) || isUnseen(child)) continue;
    if (child.name === "tr") yield { row: child, inHead };
    else if (/^t(?:head|body|foot)$/.test(child.name)) yield* rowElements(child, child.name === "thead");
  }
}

function rowOf(row: Element, { inHead, reaching }: { inHead: boolean; reaching: number[] }): Row {
  const own = row.children.filter(isElement).filter(({ name }) => name === "td" || name === "th");
  const cells: (Element | undefined)[] = [];
  const fromAbove = () => {
    while ((reaching[cells.length] ?? 0) > 0) {
      reaching[cells.length] = (reaching[cells.length] ?? 0) - 1;
      cells.push(undefined);
    }
  };
  for (const cell of own) {
    fromAbove();
    const width = span(cell, "colspan");
    const height = span(cell, "rowspan");
    for (let column = 0; column < width && cells.length < MAX_COLUMNS; column++) {
      reaching[cells.length] = height - 1;
      cells.push(column === 0 && !isUnseen(cell) ? cell : undefined);
    }
  }
  fromAbove();
  return { cells, isHead: inHead || (own.length > 0 && own.every(({ name }) => name === "th")) };
}

function span(cell: Element, name: string): number {
  const value = Number.parseInt(cell.attributes.get(name) ?? "1", 10);
  return value > 0 ? Math.min(value, MAX_COLUMNS) : 1;
}
