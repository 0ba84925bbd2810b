/**
 * The parts of a file found by patterns, line by line. This is not a parser: it sees what is written in the usual layout, and
 * says so in the answer.
 */
import table from "./outline-rules.txt";
import { rowsOf } from "./rows.js";

export type PartKind = "function" | "class" | "type" | "constant" | "export" | "import" | "heading" | "key" | "target";

export interface Part {
  readonly line: number;
  readonly kind: PartKind;
  /** As written, without the body. */
  readonly text: string;
  readonly depth: number;
  readonly exported: boolean;
}

export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

interface Language {
  readonly files: RegExp;
  readonly rules: { readonly pattern: RegExp; readonly kind: PartKind }[];
  comment?: RegExp;
  /** Which parts others can see. */
  exported?: RegExp;
  /** Lines between two of these are text, not structure. */
  fence?: RegExp;
}

const CONTROL =
  "(?!(?:if|for|while|switch|catch|return|function|else|do|with|await|new|throw|typeof|super|using|lock|foreach|sizeof)\\b)";

let languages: readonly Language[] | undefined;

function readLanguages(): readonly Language[] {
  const found: Language[] = [];
  for (const [what = "", pattern = "", letters] of rowsOf(table)) {
    const isFiles = what === "files";
    const flags = isFiles ? (letters === "exact" ? "" : "i") : letters === "any case" ? "i" : "";
    const compiled = new RegExp(pattern.replace("{CONTROL}", CONTROL).replace("{CONTROL}", CONTROL), flags);
    const language = found.at(-1);
    if (isFiles) found.push({ files: compiled, rules: [] });
    else if (what === "comment" || what === "exported" || what === "fence")
      Object.assign(language ?? {}, { [what]: compiled });
    else language?.rules.push({ pattern: compiled, kind: what as PartKind });
  }
  return found;
}

/** The parts in the order of the file, or nothing when there are no patterns for such a file. */
export function outlineParts(path: string, lines: readonly NumberedLine[]): readonly Part[] | undefined {
  languages ??= readLanguages();
  const language = languages.find(({ files }) => files.test(path));
  if (language === undefined) return undefined;
  const parts: Part[] = [];
  let fenced = false;
  for (const { line, text } of lines) {
    if (language.fence?.test(text)) fenced = !fenced;
    if (fenced || language.comment?.test(text)) continue;
    const rule = language.rules.find(({ pattern }) => pattern.test(text));
    if (rule === undefined) continue;
    parts.push({
      line,
      kind: rule.kind,
      text: headOf(text),
      depth: depthOf(text, rule.kind),
      exported: language.exported?.test(text) === true,
    });
  }
  return parts;
}

const LONGEST_HEAD = 100;

/** The line without its body, short enough to read. */
function headOf(text: string): string {
  const head = text
    .trim()
    .replace(/\s*(?:=>\s*)?\{\s*\}?$/, "")
    .replace(/\s*[=:(]$/, "");
  return head.length > LONGEST_HEAD ? `${head.slice(0, LONGEST_HEAD)}…` : head;
}

function depthOf(text: string, kind: PartKind): number {
  if (kind === "heading") return Math.max(0, (/^#+/.exec(text)?.[0].length ?? 1) - 1);
  return /^\s/.test(text) && kind !== "key" ? 1 : 0;
}
