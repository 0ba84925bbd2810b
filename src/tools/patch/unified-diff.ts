/**
 * Unified diffs, as `diff -u` and git write them. Models count lines badly, so the numbers of a hunk do not matter: its lines are found
 * in the file.
 */

import { ChangeError } from "../edit/change-error.js";
import type { FileChange, Hunk, HunkLine } from "./changes.js";

const KINDS: Readonly<Record<string, HunkLine["kind"]>> = { " ": "keep", "-": "drop", "+": "add" };
const NOTHING = "/dev/null";
const GIT = "diff --git ";

/** Tells whether a text without a language is one. */
export function isUnifiedDiff(content: string): boolean {
  return /^(?:diff --git .*\n(?:.*\n)*?)?--- \S.*\n\+\+\+ \S.*(?:\n@@|\n*$)|^diff --git .*\n(?:similarity|rename|new file|deleted file|old mode)/m.test(
    content,
  );
}

/** `name`: the file of a diff without headers. Throws a ChangeError. */
export function readUnifiedDiff(content: string, name?: string): readonly FileChange[] {
  const lines = content
    .replace(/\n-- \n[\d.]+(?:\s\S*)?\s*$/, "")
    .replace(/\n$/, "")
    .split("\n");
  const starts = startsOf(lines);
  if (starts.length > 0) {
    return starts.map((start, index) => readFile({ lines: lines.slice(start, starts[index + 1]), first: start }));
  }
  if (name === undefined) throw new ChangeError("A diff names no file.");
  return [update(name, { lines, first: 0 })];
}

/** Finds where the part of each file begins: at git's line, else at `---`. */
function startsOf(lines: readonly string[]): readonly number[] {
  const starts: number[] = [];
  let isOpen = false;
  for (const [index, line] of lines.entries()) {
    if (line.startsWith(GIT)) {
      starts.push(index);
      isOpen = true;
    } else if (isHeader(lines, index)) {
      if (!isOpen) starts.push(index);
      isOpen = false;
    }
  }
  return starts;
}

/** A removed line of SQL may begin with `---` too, but no `+++` and `@@` follow it. */
function isHeader(lines: readonly string[], at: number): boolean {
  const [one = "", two = "", three] = lines.slice(at, at + 3);
  if (!one.startsWith("--- ") || !two.startsWith("+++ ")) return false;
  const isFirst =
    at === 0 || /^(?:diff --git |index |new file mode |deleted file mode |rename to )/.test(lines[at - 1] ?? "");
  return isFirst || three === undefined || three.startsWith("@@");
}

interface Body {
  readonly lines: readonly string[];
  /** Says how many lines of the diff come before it. */
  readonly first: number;
}

function readFile({ lines, first }: Body): FileChange {
  const at = lines.findIndex((_, index) => isHeader(lines, index));
  const head = at < 0 ? lines : lines.slice(0, at);
  const found = (pattern: RegExp) => head.map((line) => pattern.exec(line)?.[1]).find((each) => each !== undefined);
  const shown = head[0] ?? "the diff";
  if (head.some((line) => /^(?:GIT binary patch|Binary files )/.test(line)))
    throw new ChangeError(`"${shown}": a binary file cannot be patched here. Use a shell command.`);
  if (found(/^copy from (.*)$/) !== undefined)
    throw new ChangeError(`"${shown}": a copy is not done. Add the file instead.`);
  const named = gitPaths(head[0]);
  const from = unquoted(found(/^rename from (.*)$/)) ?? (at < 0 ? named?.from : headerPath(lines[at]));
  const to = unquoted(found(/^rename to (.*)$/)) ?? (at < 0 ? named?.to : headerPath(lines[at + 1]));
  if (from === undefined || to === undefined) throw new ChangeError(`"${shown}": the diff names no file.`);
  const isRename = found(/^(rename to )/) !== undefined;
  const body = { lines: at < 0 ? [] : lines.slice(at + 2), first: first + at + 2 };
  const isNew = from === NOTHING || found(/^(new file mode )/) !== undefined;
  const isGone = to === NOTHING || found(/^(deleted file mode )/) !== undefined;
  const [before, after] = isRename ? [from, to] : bothPaths(from, to);
  if (isGone) return { kind: "delete", path: before };
  if (isNew) return { kind: "add", path: after, text: addedText(after, body) };
  if (before === after) return update(after, body);
  return { kind: "update", path: before, moveTo: after, hunks: hunksOf(body).filter(({ lines }) => lines.length > 0) };
}

function headerPath(line = ""): string {
  const path = line
    .slice(4)
    .replace(/\t.*$/, "")
    .replace(/\s+\((?:original|old|before|modified|new|updated|after)\)\s*$/i, "")
    .trim();
  return unquoted(path) ?? path;
}

function unquoted(path: string | undefined): string | undefined {
  return path?.trim().replace(/^"(.*)"$/, "$1");
}

/** Of `diff --git a/one b/two`. A path with blanks is only known if both are the same. */
function gitPaths(line = ""): { readonly from: string; readonly to: string } | undefined {
  const [, from, to] =
    /^diff --git (\S+) (\S+)$/.exec(line) ?? /^diff --git "?(a\/.+?)"? "?(b\/.+?)"?$/.exec(line) ?? [];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** git writes `a/` and `b/` before the path. */
function bothPaths(from: string, to: string): readonly [string, string] {
  if (from === to) return [to, to];
  const plain = (path: string, prefix: RegExp) => (path === NOTHING ? path : path.replace(prefix, ""));
  return [plain(from, /^a\//), plain(to, /^b\//)];
}

function update(path: string, body: Body): FileChange {
  const hunks = hunksOf(body).filter(({ lines }) => lines.length > 0);
  if (hunks.length === 0) throw new ChangeError(`The diff of ${path} has no changes.`);
  const bare = hunks.find(({ lines }) => lines.every(({ kind }) => kind === "add"));
  if (bare === undefined) return { kind: "update", path, hunks };
  throw new ChangeError(
    `Line ${bare.patchLine} of the diff: this change of ${path} only adds lines. Give the lines around it: line numbers do not count.`,
  );
}

function addedText(path: string, body: Body): string {
  const lines = hunksOf(body).flatMap((hunk) => hunk.lines);
  if (lines.some(({ kind }) => kind !== "add"))
    throw new ChangeError(`${path}: every line of a new file must start with '+'.`);
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
  throw new ChangeError(
    `Line ${number} of the diff must start with ' ' (kept), '-' (dropped) or '+' (added), but it is ${JSON.stringify(line)}.`,
  );
}

/** Empty lines between a hunk and the end of the block are not part of the file. */
function withoutEmptyEnd(lines: readonly HunkLine[]): readonly HunkLine[] {
  const last = lines.findLastIndex(({ kind, text }) => kind !== "keep" || text !== "");
  return lines.slice(0, last + 1);
}
