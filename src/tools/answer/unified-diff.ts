/**
 * Unified diffs in an answer. Models count lines badly, so the numbers of a hunk do not matter: its lines are found in the file.
 */
import { type FileChange, type Hunk, type HunkLine, PatchError } from "../patch/parse.js";

const KINDS: Readonly<Record<string, HunkLine["kind"]>> = { " ": "keep", "-": "drop", "+": "add" };
const NOTHING = "/dev/null";

/** Whether a block without a language is one. */
export function isUnifiedDiff(content: string): boolean {
  return /^(?:diff --git .*\n(?:.*\n)*?)?--- \S.*\n\+\+\+ \S.*\n@@/.test(content);
}

/** `name`: the file of a diff without headers. Throws a PatchError. */
export function readUnifiedDiff(content: string, name: string | undefined): readonly FileChange[] {
  const lines = content.replace(/\n$/, "").split("\n");
  const starts = lines.flatMap((_, index) => (isHeader(lines, index) ? [index] : []));
  if (/^(?:rename|copy) (?:from|to) /m.test(content))
    throw new PatchError("The diff moves a file. /apply only creates and changes files.");
  if (starts.length === 0) {
    if (name === undefined) throw new PatchError("A diff names no file.");
    return [update(name, { lines, first: 0 })];
  }
  return starts.map((start, index) => {
    const [from, to] = [headerPath(lines[start]), headerPath(lines[start + 1])];
    const end = starts[index + 1] ?? lines.length;
    const body = { lines: lines.slice(start + 2, end), first: start + 2 };
    if (to === NOTHING) throw new PatchError(`The diff deletes ${from}. /apply only creates and changes files.`);
    const path = bothPaths(from, to);
    return from === NOTHING ? { kind: "add", path, text: addedText(path, body) } : update(path, body);
  });
}

/** A removed line of SQL may begin with `---` too, but no `+++` and `@@` follow it. */
function isHeader(lines: readonly string[], at: number): boolean {
  const [one = "", two = "", three] = lines.slice(at, at + 3);
  if (!one.startsWith("--- ") || !two.startsWith("+++ ")) return false;
  const isFirst = at === 0 || /^(?:diff --git |index |new file mode )/.test(lines[at - 1] ?? "");
  return isFirst || three === undefined || three.startsWith("@@");
}

function headerPath(line = ""): string {
  return line
    .slice(4)
    .replace(/\t.*$/, "")
    .replace(/\s+\((?:original|old|before|modified|new|updated|after)\)\s*$/i, "")
    .trim()
    .replace(/^"(.*)"$/, "$1");
}

/** git writes `a/` and `b/` before the path. */
function bothPaths(from: string, to: string): string {
  const [before, after] = [from.replace(/^a\//, ""), to.replace(/^b\//, "")];
  if (from === to) return to;
  if (before === after || from === NOTHING) return after;
  throw new PatchError(`The diff moves ${from} to ${to}. /apply only creates and changes files.`);
}

interface Body {
  readonly lines: readonly string[];
  /** How many lines of the block come before it. */
  readonly first: number;
}

function update(path: string, body: Body): FileChange {
  const hunks = hunksOf(body).filter(({ lines }) => lines.length > 0);
  if (hunks.length === 0) throw new PatchError(`The diff of ${path} has no changes.`);
  return { kind: "update", path, hunks };
}

function addedText(path: string, body: Body): string {
  const lines = hunksOf(body).flatMap((hunk) => hunk.lines);
  if (lines.some(({ kind }) => kind !== "add"))
    throw new PatchError(`${path}: every line of a new file must start with '+'.`);
  return lines.map(({ text }) => `${text}\n`).join("");
}

function hunksOf({ lines, first }: Body): readonly Hunk[] {
  const hunks: { readonly patchLine: number; readonly lines: HunkLine[] }[] = [];
  for (const [index, line] of lines.entries()) {
    const patchLine = first + index + 1;
    if (line.startsWith("@@")) hunks.push({ patchLine, lines: [] });
    else if (isHunkText(line)) {
      if (hunks.length === 0) hunks.push({ patchLine, lines: [] });
      hunks.at(-1)?.lines.push(hunkLine(line, patchLine));
    }
  }
  return hunks.map((hunk) => ({ ...hunk, lines: withoutEmptyEnd(hunk.lines), headers: [], atEnd: false }));
}

/** The lines that git writes between two files are none. */
function isHunkText(line: string): boolean {
  return !/^(?:\\ No newline|diff --git |index [0-9a-f]+\.\.|(?:new|deleted) file mode |old mode |new mode )/.test(
    line,
  );
}

function hunkLine(line: string, number: number): HunkLine {
  const kind = line === "" ? "keep" : KINDS[line[0] ?? ""];
  if (kind !== undefined) return { kind, text: line.slice(1) };
  throw new PatchError(
    `Line ${number} of the diff must start with ' ' (kept), '-' (dropped) or '+' (added), but it is ${JSON.stringify(line)}.`,
  );
}

/** Empty lines between a hunk and the end of the block are not part of the file. */
function withoutEmptyEnd(lines: readonly HunkLine[]): readonly HunkLine[] {
  const last = lines.findLastIndex(({ kind, text }) => kind !== "keep" || text !== "");
  return lines.slice(0, last + 1);
}
