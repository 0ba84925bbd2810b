/** Kinds of files as people name them ("TypeScript files", ".md files", "*.py") and the name patterns that stand for them. */
import table from "./file-kinds.txt";
import { rowsOf } from "./rows.js";

export interface FileKind {
  /** For an answer: "TypeScript". */
  readonly label: string;
  /** Globs over file names, without a folder. */
  readonly names: readonly string[];
}

const KINDS = rowsOf(table).map(([label = "", words = "", names = ""]) => ({
  words: words.split(","),
  kind: { label, names: names.split(" ") } satisfies FileKind,
}));

/** The kind that a word names: `typescript`, `.ts`, `*.ts`, `ts`. A word written as an extension means only that extension. */
export function findFileKind(word: string): FileKind | undefined {
  const lower = word.toLowerCase();
  const extension = /^\*?(\.[a-z0-9_+-]{1,12}(?:\.[a-z0-9]{1,12})?)$/i.exec(word)?.[1];
  if (extension !== undefined) return { label: `*${extension}`, names: [`*${extension}`] };
  return KINDS.find(({ words }) => words.includes(lower))?.kind;
}

/** All words that name a kind, longest first, as alternatives of a rule. */
export const KIND_WORDS: string = [
  ...KINDS.flatMap(({ words }) => words)
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[+#]/g, "\\$&")),
  "\\*?\\.[a-z0-9_+-]{1,12}(?:\\.[a-z0-9]{1,12})?",
].join("|");

/** The kind a file belongs to by its name, for counting a project by language. Tests count as their language. */
export function labelOfFile(name: string): string | undefined {
  const extension = /[^/](\.[a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (extension === undefined) return undefined;
  return KINDS.find(({ kind }) => kind.names.includes(`*${extension}`))?.kind.label;
}
