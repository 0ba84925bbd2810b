/** The view of a review: the current item, its diff, and the keys. */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText, wrapText } from "../../../base/text-width.js";
import { renderDiff } from "../content/diff/render-diff.js";
import type { Theme } from "../theme.js";
import type { DialogSize, DialogView } from "./dialog.js";
import type { ReviewOptions, ReviewState, ReviewStop, ReviewVerdict } from "./review.js";

/** From this width on, two columns are the default. */
export const WIDE = 120;
const LEAST_SPLIT = 80;

export interface ReviewContext {
  readonly options: ReviewOptions;
  readonly stops: readonly ReviewStop[];
  readonly seen: { columns: number; rows: number; lines: number; first: number };
}

export function layoutOf({ layout }: ReviewState, columns: number): "unified" | "split" {
  if (columns < LEAST_SPLIT) return "unified";
  return layout ?? (columns >= WIDE ? "split" : "unified");
}

interface Look {
  readonly size: DialogSize;
  readonly theme: Theme;
}

export function viewReview(context: ReviewContext, state: ReviewState, { size, theme }: Look): DialogView {
  const { seen } = context;
  const { columns, rows } = size;
  const head = headLines(context, state, { size, theme });
  const foot = footLines(context, state, { size, theme });
  const { lines, stopAt } = bodyLines(context, state, { size, theme });
  const room = Math.max(1, rows - head.length - foot.length);
  const last = Math.max(0, lines.length - room);
  const first = Math.min(last, state.top ?? stopAt);
  Object.assign(seen, { columns, rows: room, lines: lines.length, first });
  const shown = lines.slice(first, first + room);
  while (shown.length < room) shown.push("");
  const place = lines.length > room ? ` (lines ${first + 1} to ${first + shown.length} of ${lines.length})` : "";
  const [title = "", ...others] = head;
  return { lines: [title, ...others, ...shown, ...foot.map((line, at) => (at === 0 ? line(place) : line("")))] };
}

function headLines({ options, stops }: ReviewContext, { at, verdicts }: ReviewState, { size, theme }: Look): string[] {
  const { columns } = size;
  const stop = stops[at];
  const file = options.files[stop?.file ?? 0];
  if (stop === undefined || file === undefined) return [theme.accent(truncateText(options.title, columns))];
  const count = options.files.length > 1 ? ` · file ${stop.file + 1} of ${options.files.length}` : "";
  const verdict = file.fixed ? undefined : verdicts[at];
  const style = verdict === undefined ? theme.dim : { accepted: theme.success, declined: theme.danger }[verdict];
  const mark = `[${file.fixed ? "stays as it is" : verdictWord(options, verdict)}] `;
  const what = truncateText(`${safeLine(file.path)} · ${safeLine(file.what)}`, Math.max(1, columns - mark.length));
  return [
    theme.accent(truncateText(`${safeLine(options.title)}${count}`, columns)),
    style(mark) + theme.strong(what),
    ...file.notes.flatMap((note) => wrapText(safeLine(note), columns).map((line) => theme.warning(line))),
  ];
}

function verdictWord({ words }: ReviewOptions, verdict: ReviewVerdict | undefined): string {
  if (verdict === undefined) return "not decided";
  return verdict === "accepted" ? (words?.accepted ?? verdict) : verdict;
}

function bodyLines(
  { options, stops }: ReviewContext,
  state: ReviewState,
  { size, theme }: Look,
): { readonly lines: string[]; readonly stopAt: number } {
  const stop = stops[state.at];
  const { hunks = [] } = options.files[stop?.file ?? 0] ?? {};
  const diff = { width: size.columns, theme, layout: layoutOf(state, size.columns) };
  if (stop?.hunk === undefined) return { lines: renderDiff(hunks, diff), stopAt: 0 };
  const lines: string[] = [];
  let stopAt = 0;
  for (const [index, hunk] of hunks.entries()) {
    const at = stops.findIndex((other) => other.file === stop.file && other.hunk === index);
    const isHere = at === state.at;
    if (isHere) stopAt = lines.length;
    const mark = isHere ? (theme.ascii ? "> " : "❯ ") : "  ";
    const words = `${mark}change ${index + 1} of ${hunks.length}: ${verdictWord(options, state.verdicts[at])}`;
    lines.push((isHere ? theme.selected : theme.dim)(truncateText(words, size.columns)));
    lines.push(...renderDiff([hunk], diff));
  }
  return { lines, stopAt };
}

/** The first line also shows which part of the diff is visible. */
function footLines(
  context: ReviewContext,
  { verdicts }: ReviewState,
  { size, theme }: Look,
): ((place: string) => string)[] {
  const { options, stops } = context;
  const { columns } = size;
  const all = stops.filter(({ file }) => options.files[file]?.fixed !== true).length;
  const count = (wanted: ReviewVerdict) => Object.values(verdicts).filter((verdict) => verdict === wanted).length;
  const end = `enter ${options.end({ accepted: count("accepted"), declined: count("declined"), all })}`;
  const more = options.unit === "file" ? "A D all" : "A D the file · N P files";
  const keys = [
    `a ${options.words?.a ?? "accepts"} · d declines · s skips · n p next, previous`,
    ...(stops.length > 1 ? [more] : []),
    ...(columns >= LEAST_SPLIT ? ["v one or two columns"] : []),
    ...(options.answers ?? []).map(({ keys: [key], label }) => `${key} ${safeLine(label)}`),
    "esc goes back",
  ].join(" · ");
  return [
    (place) => theme.key(truncateText(`${end}${place}`, columns)),
    ...wrapText(keys, columns).map((line) => () => theme.dim(line)),
  ];
}
