/** Reads what `ls` answers: one name a line, folders with a slash, two spaces of indentation for each level. */
export interface ListedEntry {
  readonly name: string;
  /** From the listed folder, with forward slashes. */
  readonly path: string;
  readonly depth: number;
  readonly kind: "folder" | "file" | "other";
  /** A folder whose inside was left out on purpose or for want of room. */
  readonly closed?: "ignored" | "not listed";
}

export interface FolderListing {
  readonly entries: readonly ListedEntry[];
  /** Entries that are there and not listed. */
  readonly leftOut: number;
  /** The listing as it came, without notes. */
  readonly text: string;
}

export function parseFolderListing(text: string): FolderListing {
  if (/ is empty\.$/.test(text.trim()) && !text.includes("\n")) return { entries: [], leftOut: 0, text: "" };
  const entries: ListedEntry[] = [];
  const rows: string[] = [];
  const parents: string[] = [];
  let leftOut = 0;
  for (const row of text.split("\n")) {
    const more = /^\[([\d,.]+) more entr(?:y|ies) not shown/.exec(row)?.[1];
    if (more !== undefined) leftOut = Number(more.replace(/[^\d]/g, ""));
    if (more !== undefined || row === "" || /^\[… /.test(row)) continue;
    rows.push(row);
    const entry = parseRow(row, parents);
    entries.push(entry);
    parents.length = entry.depth - 1;
    parents.push(entry.name);
  }
  return { entries, leftOut, text: rows.join("\n") };
}

function parseRow(row: string, parents: readonly string[]): ListedEntry {
  const indent = /^ */.exec(row)?.[0].length ?? 0;
  const depth = Math.min(Math.floor(indent / 2), parents.length) + 1;
  const label = row.slice((depth - 1) * 2);
  const folder = /^(.*)\/(?: \((ignored|not listed)\))?$/.exec(label);
  const name = folder?.[1] ?? label.replace(/ (?:-> .*|\(not a regular file\))$/, "");
  const path = [...parents.slice(0, depth - 1), name].join("/");
  if (folder !== null) {
    const closed = folder[2] === "ignored" || folder[2] === "not listed" ? folder[2] : undefined;
    return { name, path, depth, kind: "folder", ...(closed !== undefined && { closed }) };
  }
  return { name, path, depth, kind: name === label ? "file" : "other" };
}
