/**
 * Tables as text: one row to a line, its cells separated by ` | `. `#` begins a comment. A table of phrases has the meaning of a phrase
 * before the bar, and behind it a pattern for the whole request.
 *
 * 1. A pattern is a regular expression in which only named groups capture. `{NAME}` stands for the line `NAME = …` above it.
 *    `{MARK}` (one quoted text) and `{KIND_WORDS}` (words for kinds of files) are built in.
 * 2. `? PATTERN` begins a group: if it does not match, none of the lines below can match, so they are not compiled.
 * 3. Lines are tried in their order.
 */
import kinds from "./file-kinds.txt";
import { MARK } from "./request-text.js";

export function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("# "));
  return lines.map((line) => line.split(/ \|(?: |$)/));
}

export interface FileKind {
  /** For an answer: "TypeScript". */
  readonly label: string;
  /** Globs over file names, without a folder. */
  readonly names: readonly string[];
}

const KINDS = rowsOf(kinds).map(([label = "", words = "", names = ""]) => ({
  words: words.split(","),
  kind: { label, names: names.split(" ") } satisfies FileKind,
}));
const EXTENSION = "\\*?\\.[a-z0-9_+-]{1,12}(?:\\.[a-z0-9]{1,12})?";

/** All words that name a kind, longest first, as alternatives of a rule. */
export const KIND_WORDS: string = KINDS.flatMap(({ words }) => words)
  .sort((a, b) => b.length - a.length)
  .map((word) => word.replace(/[+#]/g, "\\$&"))
  .concat(EXTENSION)
  .join("|");

/** Finds the kind that a word names: `typescript`, `.ts`, `*.ts`, `ts`. A word written as an extension means only that extension. */
export function findFileKind(word: string): FileKind | undefined {
  const label = `*${word.replace(/^\*/, "")}`;
  if (new RegExp(`^${EXTENSION}$`, "i").test(word)) return { label, names: [label] };
  return KINDS.find(({ words }) => words.includes(word.toLowerCase()))?.kind;
}

/** Names the kind a file belongs to, for counting a project by language. Tests count as their language. */
export function labelOfFile(name: string): string | undefined {
  const extension = /[^/](\.[a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  return KINDS.find(({ kind }) => kind.names.includes(`*${extension}`))?.kind.label;
}

type Words = Readonly<Record<string, string | undefined>>;

export interface Phrase {
  /** The first word of the line. */
  readonly meaning: string;
  /** The other words before the bar; `name=value`, or `name` alone. */
  readonly traits: Words;
  readonly slots: Words;
  /** The place in the text where it was found. */
  readonly index: number;
}

/** Returns what finds the phrases of a table that match a text, one after the other. Without `start`, only the end has to match. */
export function phraseBook(table: string, start = "^"): (text: string) => Generator<Phrase> {
  const macros = new Map(Object.entries({ MARK, KIND_WORDS }));
  const expand = (pattern: string): string =>
    pattern
      .replace(/\{([A-Z][A-Z_]*)\}/g, (_whole, name: string) => macros.get(name) ?? "")
      // `\(` and `(?<name>` stay as they are.
      .replace(/\\.|\((?!\?)/g, (found) => (found === "(" ? "(?:" : found));
  const readLine = (line: string) => {
    const [, name, value = ""] = /^([A-Z][A-Z_]*) = (.*)$/.exec(line) ?? [];
    if (name !== undefined) macros.set(name, expand(value));
    if (name !== undefined || line === "" || line.startsWith("#")) return [];
    const at = line.startsWith("? ") ? 1 : line.indexOf(" | ") + 2;
    const [meaning = "", ...words] = line.slice(0, at).replace(/ \|$/, "").split(" ");
    const traits = Object.fromEntries(words.map((word) => word.split("=")).map(([key, is = "yes"]) => [key, is]));
    let compiled: RegExp | undefined;
    const pattern = () => {
      compiled ??= new RegExp(expand(meaning === "?" ? line.slice(2) : `${start}(?:${line.slice(at + 1)})$`), "i");
      return compiled;
    };
    return [{ meaning, traits, pattern }];
  };
  let lines: ReturnType<typeof readLine> | undefined;
  return function* matches(text) {
    lines ??= table.split("\n").flatMap(readLine);
    let isOpen = true;
    for (const { meaning, traits, pattern } of lines) {
      if (meaning === "?") isOpen = pattern().test(text);
      const match = isOpen && meaning !== "?" ? pattern().exec(text) : null;
      if (match !== null) yield { meaning, traits, slots: match.groups ?? {}, index: match.index };
    }
  };
}
