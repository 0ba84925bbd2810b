/**
 * Detects a quotation that is cut short with a new text that is not: the text just before or after the quotation would then appear
 * twice.
 */
import { Refusal } from "./align.js";

export interface PlacedEdit {
  readonly start: number;
  readonly end: number;
  readonly old: string;
  readonly new: string;
}

/** Throws a Refusal when the new text repeats the rest of the line that the quotation begins or ends in. */
export function refuseEcho(text: string, { start, end, old, new: fresh }: PlacedEdit): void {
  const before = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  const lineEnd = text.indexOf("\n", end);
  const after = text.slice(end, lineEnd < 0 ? undefined : lineEnd).trimEnd();
  if (start > 0 && echoesIndent(before, old, fresh)) {
    throw new Refusal("the new text brings the indentation that stands before the quotation already");
  }
  const lead = before.trimStart();
  if (/\w/.test(lead) && fresh.trimStart().startsWith(lead) && !old.trimStart().startsWith(lead)) {
    throw new Refusal(`the new text repeats ${JSON.stringify(lead)}, which stands before the quotation already`);
  }
  if (/\w|^\s*[,;]+$/.test(after) && fresh.trimEnd().endsWith(after) && !old.endsWith(after)) {
    throw new Refusal(`the new text repeats ${JSON.stringify(after)}, which follows the quotation already`);
  }
}

/** More indentation for the same line may be intended; for another line it repeats the indentation. */
function echoesIndent(before: string, old: string, fresh: string): boolean {
  if (before === "" || before.trim() !== "" || /^\s/.test(old) || !fresh.startsWith(before)) return false;
  return !fresh.trimStart().startsWith(old.trimEnd());
}

/**
 * A quotation within a line was cut short if several lines replace it, if the replacement closes brackets that the quotation leaves
 * open, or if it repeats more of the surrounding text.
 */
export function refuseFragment(text: string, { start, end, old, new: fresh }: PlacedEdit): void {
  const lineEnd = text.indexOf("\n", end);
  const before = text.slice(text.lastIndexOf("\n", start - 1) + 1, start).trim();
  const after = text.slice(end, lineEnd < 0 ? undefined : lineEnd).trim();
  const count = (whole: string, part: string) => whole.split(part).length;
  const balance = (part: string) => (part.match(/[([{]/g)?.length ?? 0) - (part.match(/[)\]}]/g)?.length ?? 0);
  const repeats = [before, after].some((part) => part !== "" && count(fresh, part) > count(old, part));
  const isIndented = /^(?:\t|\s{2})/.test(fresh) || (/^\s/.test(fresh) && !/^\s/.test(old));
  if (repeats || isIndented || balance(old) !== balance(fresh) || fresh.trim().includes("\n")) {
    throw new Refusal("it is a part of a line, and the new text is more");
  }
}
