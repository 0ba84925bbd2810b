import { listCall, readCall } from "../calls.js";
import type { LineRange, ReadSlots } from "../intents/read.js";
import { lookUpDocument } from "../look-up.js";
import { type FileText, parseFileText } from "../outputs/file-text.js";
import { parseFolderListing } from "../outputs/folder-listing.js";
import { call, type Plan, type ToolFact } from "../plan.js";
import { code, count, fenced, paragraphs } from "../wording.js";

const SHOWN_LINES = 400;

export function* planRead({ path: named, lookUp, lines }: ReadSlots): Plan {
  const path = lookUp ? yield* lookUpDocument(named) : named;
  if (path === undefined) return `There is no ${named.toUpperCase()} file in this project.`;
  if (lines?.type === "last") return yield* planLast(path, lines.count);
  const fact = yield* call({ ...readCall(path, partOf(lines)), mayFail: true });
  if (fact.failed && isFolder(fact)) return yield* planFolder(path);
  if (fact.failed) return unreadable(path, fact);
  return describeText(path, parseFileText(fact.text));
}

function partOf(lines: LineRange | undefined) {
  if (lines === undefined) return { limit: SHOWN_LINES };
  if (lines.type !== "range") return { limit: lines.count };
  return { offset: lines.from, limit: lines.to === undefined ? SHOWN_LINES : lines.to - lines.from + 1 };
}

function* planLast(path: string, most: number): Plan {
  // The first line is asked for only because the answer tells how many there are.
  const fact = yield* call({ ...readCall(path, { limit: 1 }), mayFail: true });
  if (fact.failed) return unreadable(path, fact);
  const head = parseFileText(fact.text);
  if (head.notText !== undefined || head.lines.length === 0) return describeText(path, head);
  if (head.totalLines === undefined)
    return `${code(path)} is too large for its number of lines to be known, so its end cannot be shown. Try: run ${code(`tail -n ${most} ${path}`)}`;
  const offset = Math.max(1, head.totalLines - most + 1);
  return describeText(path, parseFileText((yield* call(readCall(path, { offset, limit: most }))).text));
}

export function describeText(path: string, text: FileText): string {
  if (text.notText !== undefined) return `${code(path)} is not shown here, it is not text: ${text.notText}`;
  const { lines, totalLines } = text;
  const first = lines[0]?.line;
  const last = lines.at(-1)?.line;
  if (first === undefined || last === undefined) return `${code(path)} is empty.`;
  const range = first === last ? `line ${first}` : `lines ${first}-${last}`;
  const all = totalLines === undefined ? "a large file" : totalLines;
  const label =
    first === 1 && last === totalLines
      ? `${code(path)} (${count(totalLines, "line")}):`
      : `${code(path)}, ${range} of ${all}:`;
  const cut = text.linesCut ? "Some lines are longer than what is shown." : undefined;
  return paragraphs(label, fenced(lines.map((line) => line.text).join("\n")), cut);
}

function isFolder({ text }: ToolFact): boolean {
  return /\bis a (?:folder|directory)\b/i.test(text);
}

function* planFolder(path: string): Plan {
  const listing = parseFolderListing((yield* call(listCall({ path }))).text);
  return paragraphs(
    `${code(path)} is a folder${listing.text === "" ? ", and it is empty." : ":"}`,
    listing.text === "" ? undefined : fenced(listing.text),
  );
}

export function unreadable(path: string, fact: ToolFact): string {
  return paragraphs(`${code(path)} could not be read:`, fenced(fact.text.trim()));
}
