/** Describes what a call would write, for the person who is asked about it: the text, the replacements or the patch. */
import type { JsonObject } from "../../protocol/json.js";

const HEAD_LINES = 60;
const TAIL_LINES = 20;
const MAX_LINE = 300;

/** Undefined for a call that writes no text. */
export function previewCall(args: JsonObject): string | undefined {
  const { content, patch, edits, old, new: fresh } = args;
  if (typeof patch === "string") return shortened(patch);
  if (typeof content === "string") return shortened(marked("+", content));
  const replacements = Array.isArray(edits) ? edits : typeof fresh === "string" ? [{ old: old ?? "", new: fresh }] : [];
  const texts = replacements.map(replacement).filter((text) => text !== "");
  return texts.length === 0 ? undefined : shortened(texts.join("\n"));
}

function replacement(edit: unknown): string {
  const { old, new: fresh } = (edit ?? {}) as { readonly old?: unknown; readonly new?: unknown };
  const removed = typeof old === "string" && old !== "" ? [marked("-", old)] : [];
  const added = typeof fresh === "string" && fresh !== "" ? [marked("+", fresh)] : [];
  return [...removed, ...added].join("\n");
}

function marked(mark: string, text: string): string {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `${mark}${line}`)
    .join("\n");
}

/** The beginning and the end, with the number of lines between them: the reader must see that lines are missing. */
function shortened(text: string): string {
  const lines = text.split("\n").map(shortLine);
  const hidden = lines.length - HEAD_LINES - TAIL_LINES;
  if (hidden <= 0) return lines.join("\n");
  return [...lines.slice(0, HEAD_LINES), `… ${hidden} lines are not shown …`, ...lines.slice(-TAIL_LINES)].join("\n");
}

function shortLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  return `${line.slice(0, MAX_LINE)} … ${line.length - MAX_LINE} characters are not shown`;
}
