/** Describes what a call changes, as the diffs that an editor shows. */
import { resolve } from "node:path";
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";

type Diff = Extract<ToolCallContent, { type: "diff" }>;

/** Tells what a call would change, from its arguments; nothing for a patch, whose own text shows it. */
export function proposedDiffs({ path, content, edits, old, new: fresh }: JsonObject, cwd: string): readonly Diff[] {
  if (typeof path !== "string") return [];
  const file = resolve(cwd, path);
  if (typeof content === "string") return [{ type: "diff", path: file, newText: content }];
  const list = Array.isArray(edits) ? edits : [{ old, new: fresh }];
  return list.flatMap((edit: JsonValue): readonly Diff[] => {
    if (!isJsonObject(edit) || typeof edit.new !== "string") return [];
    const before = typeof edit.old === "string" && edit.old !== "" ? { oldText: edit.old } : {};
    return [{ type: "diff", path: file, ...before, newText: edit.new }];
  });
}

/** Tells what a call has changed, from the details of its result: one diff for each hunk. */
export function resultDiffs(details: JsonObject | undefined, cwd: string): readonly Diff[] {
  if (details === undefined) return [];
  const files = Array.isArray(details.files) ? details.files : [details];
  return files.flatMap((file: JsonValue): readonly Diff[] => {
    if (!isJsonObject(file) || typeof file.path !== "string" || typeof file.diff !== "string") return [];
    const isNew = file.created === true || file.kind === "added";
    const path = resolve(cwd, file.path);
    return hunksOf(file.diff).map(({ before, after }) => {
      return { type: "diff", path, ...(!isNew && { oldText: before }), newText: after };
    });
  });
}

/** The paths of the details, in their order. */
export function changedPaths(details: JsonObject | undefined, cwd: string): readonly string[] {
  const files = Array.isArray(details?.files) ? details.files : [details ?? {}];
  const paths = files.map((file: JsonValue) => (isJsonObject(file) ? file.path : undefined));
  return paths.filter((path) => typeof path === "string").map((path) => resolve(cwd, path));
}

interface Hunk {
  before: string;
  after: string;
}

/** Reads the text of `diffText` (base/diff.ts). */
function hunksOf(diff: string): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let last = "";
  for (const line of diff.split("\n")) {
    const hunk = hunks.at(-1);
    const [mark] = line;
    if (line.startsWith("@@ ")) hunks.push({ before: "", after: "" });
    else if (hunk === undefined) continue;
    else if (mark === "\\") withoutNewline(hunk, last);
    else if (mark === " " || mark === "-" || mark === "+") {
      if (mark !== "+") hunk.before += `${line.slice(1)}\n`;
      if (mark !== "-") hunk.after += `${line.slice(1)}\n`;
    }
    last = mark ?? "";
  }
  return hunks;
}

/** The line before this mark is the last one of the file and has no newline. */
function withoutNewline(hunk: Hunk, mark: string): void {
  if (mark !== "+") hunk.before = hunk.before.slice(0, -1);
  if (mark !== "-") hunk.after = hunk.after.slice(0, -1);
}
