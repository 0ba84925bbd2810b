/** Reads what `ls` answers: one name a line, folders with a slash, two spaces of indentation for each level. */
import { toNumber } from "./search-output.js";

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

const MORE = /^\[([\d,.]+) more entr(?:y|ies) not shown/m;

export function parseFolderListing(text: string): FolderListing {
  if (/^.* is empty\.$/.test(text.trim())) return { entries: [], leftOut: 0, text: "" };
  const rows = text.split("\n").filter((row) => row !== "" && !MORE.test(row) && !row.startsWith("[… "));
  const parents: string[] = [];
  const entries = rows.map((row) => {
    const entry = parseRow(row, parents);
    parents.splice(entry.depth - 1, parents.length, entry.name);
    return entry;
  });
  return { entries, leftOut: toNumber(MORE.exec(text)?.[1]) ?? 0, text: rows.join("\n") };
}

function parseRow(row: string, parents: readonly string[]): ListedEntry {
  const indent = /^ */.exec(row)?.[0].length ?? 0;
  const depth = Math.min(Math.floor(indent / 2), parents.length) + 1;
  const label = row.slice((depth - 1) * 2);
  const [, folder, closed] = /^(.*)\/(?: \((ignored|not listed)\))?$/.exec(label) ?? [];
  const name = folder ?? label.replace(/ (?:-> .*|\(not a regular file\))$/, "");
  const path = [...parents.slice(0, depth - 1), name].join("/");
  const kind = folder !== undefined ? "folder" : name === label ? "file" : "other";
  return { name, path, depth, kind, ...(closed !== undefined && { closed: closed as "ignored" | "not listed" }) };
}
