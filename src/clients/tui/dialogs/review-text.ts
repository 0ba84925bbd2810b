/** A review as text for a file: the changes of all files as a unified diff, or the whole file that is shown. */
import { safeLine, safeText } from "../../../base/terminal-text.js";
import type { Hunk } from "../../sdk/shown/hunks.js";
import type { ReviewFile, ReviewState } from "./review.js";
import { layoutOf, wholeOf } from "./review-layout.js";
import type { ReviewContext } from "./review-view.js";

export interface SavedReview {
  readonly name: string;
  /** Without control characters: the user may print the file on a terminal. */
  readonly text: string;
}

export function savedReview(context: ReviewContext, state: ReviewState): SavedReview {
  const { options, stops } = context;
  const file = options.files[stops[state.at]?.file ?? 0];
  const base = file?.path.split("/").at(-1) ?? "review";
  if (file !== undefined && layoutOf(context, state) === "file") {
    const lines = wholeOf(file).lines.filter(({ kind }) => kind !== "removed");
    return { name: base, text: lines.map(({ text }) => `${lineOf(text)}\n`).join("") };
  }
  const name = options.files.length === 1 ? `${base}.diff` : "review.diff";
  return { name, text: options.files.map(diffOf).join("\n") };
}

function diffOf({ path, what, notes, hunks, isNew }: ReviewFile): string {
  const name = safeLine(path);
  const about = [what, ...notes].map((line) => `# ${safeLine(line)}`);
  const names = [`--- ${isNew ? "/dev/null" : `a/${name}`}`, `+++ b/${name}`];
  return [...about, ...names, ...inOrder(hunks).flatMap(hunkLines)].map((line) => `${line}\n`).join("");
}

/** As programs that apply a patch expect them. */
function inOrder(hunks: readonly Hunk[]): readonly Hunk[] {
  const first = ({ lines }: Hunk) => lines.find((line) => line.oldNumber !== undefined)?.oldNumber ?? 0;
  return hunks.toSorted((one, other) => first(one) - first(other));
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function hunkLines({ lines }: Hunk): readonly string[] {
  const range = (side: "oldNumber" | "newNumber", other: "added" | "removed") => {
    const first = lines.find((line) => line[side] !== undefined)?.[side];
    const count = lines.filter(({ kind }) => kind !== other).length;
    if (first === undefined && count > 0) return undefined;
    return `${first ?? 0},${count}`;
  };
  const [old, fresh] = [range("oldNumber", "added"), range("newNumber", "removed")];
  const head = old === undefined || fresh === undefined ? "@@ @@" : `@@ -${old} +${fresh} @@`;
  return [head, ...lines.map(({ kind, text }) => SIGNS[kind] + lineOf(text))];
}

function lineOf(text: string): string {
  return safeText(text.replace(/\r$/, "")).replaceAll("\n", "␊");
}
