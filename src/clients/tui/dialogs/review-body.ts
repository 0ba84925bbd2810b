/** The middle of a review: the changes of a file, or the whole file with them. */
import { truncateText, wrapText } from "../../../base/text-width.js";
import { languageOfFile } from "../../sdk/shown/languages.js";
import { type DiffOptions, diffRows, renderDiff } from "../content/diff/render-diff.js";
import type { ReviewFile, ReviewOptions, ReviewState, ReviewStop, ReviewVerdict } from "./review.js";
import { layoutOf, wholeOf } from "./review-layout.js";
import type { Look, ReviewContext } from "./review-view.js";

interface Body {
  readonly lines: string[];
  /** Where the current stop is. */
  readonly stopAt: number;
}

export function bodyLines(context: ReviewContext, state: ReviewState, look: Look): Body {
  const { options, stops } = context;
  const stop = stops[state.at] ?? { file: 0 };
  const file = options.files[stop.file];
  if (file === undefined) return { lines: [], stopAt: 0 };
  const layout = layoutOf(context, state);
  const diff = diffOptions({ width: look.size.columns, theme: look.theme }, file, options);
  if (layout === "file") return wholeLines(context, state, { ...look, stop, file, diff });
  const shown = { ...diff, layout };
  if (stop.hunk === undefined) return { lines: renderDiff(file.hunks, shown), stopAt: 0 };
  const lines: string[] = [];
  let stopAt = 0;
  for (const [index, hunk] of file.hunks.entries()) {
    if (index === stop.hunk) stopAt = lines.length;
    lines.push(changeTitle(context, state, { ...look, file: stop.file, hunk: index }), ...renderDiff([hunk], shown));
  }
  return { lines, stopAt };
}

export function verdictWord({ words }: ReviewOptions, verdict: ReviewVerdict | undefined): string {
  if (verdict === undefined) return "not decided";
  return verdict === "accepted" ? (words?.accepted ?? verdict) : verdict;
}

function changeTitle(
  { options, stops }: ReviewContext,
  state: ReviewState,
  { theme, size, file, hunk }: Look & { readonly file: number; readonly hunk: number },
): string {
  const at = stops.findIndex((other) => other.file === file && other.hunk === hunk);
  const isHere = at === state.at;
  const mark = isHere ? "❯ " : "  ";
  const all = options.files[file]?.hunks.length;
  const words = `${mark}change ${hunk + 1} of ${all}: ${verdictWord(options, state.verdicts[at])}`;
  return (isHere ? theme.selected : theme.dim)(truncateText(words, size.columns));
}

function diffOptions(base: DiffOptions, { path, isNew }: ReviewFile, { tools }: ReviewOptions): DiffOptions {
  return { ...base, highlighter: tools?.highlighter(languageOfFile(path)), isNew };
}

interface Shown extends Look {
  readonly stop: ReviewStop;
  readonly file: ReviewFile;
  readonly diff: DiffOptions;
}

const LINES_ABOVE = 3;

function wholeLines(context: ReviewContext, state: ReviewState, shown: Shown): Body {
  const { stop, file, diff } = shown;
  const { starts } = wholeOf(file);
  const rows = rowsOf(context, file, diff);
  const lines: string[] = [];
  let stopAt = 0;
  const isPlaced = starts[stop.hunk ?? 0] !== undefined;
  if (!isPlaced && starts.length > 0) {
    const words = "The file does not have the lines of this change exactly, so its place is not certain.";
    lines.push(...wrapText(words, diff.width).map((line) => diff.theme.warning(line)));
  }
  for (const [index, line] of rows.entries()) {
    const hunk = starts.indexOf(index);
    if (hunk !== -1 && hunk === (stop.hunk ?? 0)) stopAt = Math.max(0, lines.length - LINES_ABOVE);
    if (hunk !== -1 && stop.hunk !== undefined) {
      lines.push(changeTitle(context, state, { ...shown, file: stop.file, hunk }));
    }
    lines.push(...line);
  }
  return { lines, stopAt };
}

/** A long file is laid out once, not for each key. */
function rowsOf({ seen }: ReviewContext, file: ReviewFile, diff: DiffOptions): readonly (readonly string[])[] {
  const { width, theme } = diff;
  if (seen.whole?.file !== file || seen.whole.width !== width || seen.whole.theme !== theme) {
    seen.whole = { file, width, theme, rows: diffRows(wholeOf(file), diff) };
  }
  return seen.whole.rows;
}
