/** The change that a pending call would write, as hunks. */

import { diffLines } from "../../../base/diff.js";
import type { JsonObject, JsonValue } from "../../../protocol/json.js";
import type { DiffLine, Hunk } from "./hunks.js";

export interface ProposedFile {
  readonly path: string;
  /** Holds what would happen to it: `change, +1 -1`. */
  readonly what: string;
  /** Lines that are no change: that a part cannot be read. */
  readonly notes: readonly string[];
  readonly hunks: readonly Hunk[];
  /** All of the new content, for a change that replaces the file. */
  readonly replacement?: string;
  /** There was no such file before. */
  readonly isNew?: true;
}

/** Empty for a call that writes no text. Line numbers are shown only if the call has them. */
export function proposedChange(args: JsonObject): readonly ProposedFile[] {
  const { content, patch, edits, old, new: fresh } = args;
  if (typeof patch === "string") return patchedFiles(patch);
  const path = textOf(args.path) ?? textOf(args.file_path) ?? "";
  if (typeof content === "string") return [{ ...fileOf(path, [wholeText(content)]), replacement: content }];
  const list = Array.isArray(edits) ? edits : typeof fresh === "string" ? [{ old: old ?? "", new: fresh }] : [];
  const hunks = list.map(replacement).filter(({ lines }) => lines.length > 0);
  return hunks.length === 0 ? [] : [fileOf(path, hunks)];
}

function fileOf(path: string, hunks: readonly Hunk[], action = "change"): ProposedFile {
  const count = (kind: DiffLine["kind"]) =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  return { path, what: `${action}, +${count("added")} -${count("removed")}`, notes: [], hunks };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function wholeText(content: string): Hunk {
  return { lines: linesOf(content).map((text, index) => ({ kind: "added", text, newNumber: index + 1 })) };
}

function replacement(edit: JsonValue): Hunk {
  const { old, new: fresh } = (typeof edit === "object" && edit !== null ? edit : {}) as JsonObject;
  const before = linesOf(textOf(old) ?? "");
  const after = linesOf(textOf(fresh) ?? "");
  const lines = diffLines(before, after).flatMap(({ kind, oldStart, oldCount, newStart, newCount }): DiffLine[] => {
    const was = before.slice(oldStart, oldStart + oldCount);
    if (kind === "same") return was.map((text) => ({ kind: "same", text }));
    const is = after.slice(newStart, newStart + newCount);
    return [
      ...was.map((text) => ({ kind: "removed", text }) as const),
      ...is.map((text) => ({ kind: "added", text }) as const),
    ];
  });
  return { lines };
}

interface Part {
  readonly path: string;
  readonly action: string;
  readonly notes: string[];
  readonly hunks: { lines: DiffLine[] }[];
}

/** Both ways to write a patch: `*** Update File: a.txt`, and `+++ b/a.txt`. A line that fits neither is shown as a note. */
function patchedFiles(patch: string): readonly ProposedFile[] {
  const parts: Part[] = [];
  const lines = patch.replace(/\n$/, "").split("\n");
  let numbers: { old: number; new: number } | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const pair = /^--- /.test(line) ? pairOf(line, lines[at + 1] ?? "") : undefined;
    const begun = pair ?? headOf(line);
    if (pair !== undefined) at++;
    if (begun !== undefined) parts.push(begun);
    else if (isFrame(line)) continue;
    else {
      if (parts.length === 0) parts.push(partOf("(patch)"));
      numbers = addLine(parts.at(-1) as Part, line, numbers);
    }
  }
  return parts.map(({ path, action, notes, hunks }) => {
    const filled = hunks.filter((hunk) => hunk.lines.length > 0);
    return { ...fileOf(path, filled, action), notes, ...(action === "create" && { isNew: true as const }) };
  });
}

function partOf(path: string, action = "change"): Part {
  return { path, action, notes: [], hunks: [] };
}

function headOf(line: string): Part | undefined {
  const named = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line);
  if (named === null) return undefined;
  return partOf(named[2] ?? "", { Add: "create", Update: "change", Delete: "delete" }[named[1] ?? ""]);
}

/** Both names are shown when they differ: an apparent header may be a line of the file. */
function pairOf(first: string, second: string): Part | undefined {
  if (!second.startsWith("+++ ")) return undefined;
  const nameOf = (line: string) =>
    line
      .slice(4)
      .replace(/\t.*$/, "")
      .replace(/^[ab]\//, "");
  const [from, to] = [nameOf(first), nameOf(second)];
  if (from === "/dev/null") return partOf(to, "create");
  if (to === "/dev/null") return partOf(from, "delete");
  return partOf(from === to ? to : `${from} to ${to}`);
}

/** Lines of the patch envelope. */
function isFrame(line: string): boolean {
  return /^(\*\*\* (Begin|End) Patch|diff --git .*|index [0-9a-f.]+( \d+)?|)$/.test(line);
}

type Numbers = { old: number; new: number } | undefined;

/** The numbers of the next line. */
function addLine(part: Part, line: string, numbers: Numbers): Numbers {
  if (line.startsWith("@@")) {
    const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line) ?? [];
    part.hunks.push({ lines: [] });
    return from === undefined ? undefined : { old: Number(from), new: Number(to) };
  }
  const kind = { "+": "added", "-": "removed", " ": "same" }[line[0] ?? ""] as DiffLine["kind"] | undefined;
  if (kind === undefined) {
    part.notes.push(line);
    return numbers;
  }
  if (part.hunks.length === 0) part.hunks.push({ lines: [] });
  const text = line.slice(1);
  const oldNumber = kind === "added" ? undefined : numbers?.old;
  const newNumber = kind === "removed" ? undefined : numbers?.new;
  const numbered = { ...(oldNumber !== undefined && { oldNumber }), ...(newNumber !== undefined && { newNumber }) };
  part.hunks.at(-1)?.lines.push({ kind, text, ...numbered });
  if (numbers === undefined) return undefined;
  return { old: numbers.old + (kind === "added" ? 0 : 1), new: numbers.new + (kind === "removed" ? 0 : 1) };
}
