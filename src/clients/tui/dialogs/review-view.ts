/** The view of a review: the current item, its diff, and the keys. */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText, wrapText } from "../../../base/text-width.js";
import type { Theme } from "../theme.js";
import type { DialogSize, DialogView } from "./dialog.js";
import type { ReviewFile, ReviewOptions, ReviewState, ReviewStop, ReviewVerdict } from "./review.js";
import { bodyLines, verdictWord } from "./review-body.js";
import { LAYOUT_NAMES, layoutsOf, nextLayout } from "./review-layout.js";

export interface ReviewContext {
  readonly options: ReviewOptions;
  readonly stops: readonly ReviewStop[];
  /** Measurements of the last view, for the keys that scroll and switch. */
  readonly seen: {
    /** The stop and the first row that were shown, and whether a key can be about them. */
    at: number;
    isPainted: boolean;
    columns: number;
    rows: number;
    lines: number;
    first: number;
    /** The whole file that is shown now. */
    whole?: {
      readonly file: ReviewFile;
      readonly width: number;
      readonly theme: Theme;
      /** For each line. */
      readonly rows: readonly (readonly string[])[];
    };
  };
}

export interface Look {
  readonly size: DialogSize;
  readonly theme: Theme;
}

export function viewReview(context: ReviewContext, state: ReviewState, { size, theme }: Look): DialogView {
  const { seen } = context;
  const { columns, rows } = size;
  // The keys below depend on the width, too.
  seen.columns = columns;
  const head = headLines(context, state, { size, theme });
  const foot = footLines(context, state, { size, theme });
  const { lines, stopAt } = bodyLines(context, state, { size, theme });
  const room = Math.max(1, rows - head.length - foot.length);
  const last = Math.max(0, lines.length - room);
  const first = Math.min(last, state.top ?? stopAt);
  if (seen.at !== state.at || seen.first !== first) {
    seen.isPainted = false;
    setTimeout(() => {
      if (seen.at === state.at && seen.first === first) seen.isPainted = true;
    });
  }
  Object.assign(seen, { at: state.at, columns, rows: room, lines: lines.length, first });
  const shown = lines.slice(first, first + room);
  while (shown.length < room) shown.push("");
  const place = lines.length > room ? ` (lines ${first + 1} to ${first + shown.length} of ${lines.length})` : "";
  const [title = "", ...others] = head;
  return { lines: [title, ...others, ...shown, ...foot.map((line) => line(place))] };
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

/** The line about Enter also shows which part of the diff is visible. */
function footLines(context: ReviewContext, state: ReviewState, { size, theme }: Look): ((place: string) => string)[] {
  const { options, stops } = context;
  const { columns } = size;
  const { verdicts, message } = state;
  const all = stops.filter(({ file }) => options.files[file]?.fixed !== true).length;
  const count = (wanted: ReviewVerdict) => Object.values(verdicts).filter((verdict) => verdict === wanted).length;
  const end = `enter ${options.end({ accepted: count("accepted"), declined: count("declined"), all })}`;
  const many = options.showsAll ? "D declines all" : "A D all";
  const more = options.unit === "file" ? many : "A D the file · N P files";
  const keys = [
    `a ${options.words?.a ?? "accepts"} · d declines · s skips · n p next, previous`,
    ...(stops.length > 1 ? [more] : []),
    ...(layoutsOf(context, state).length > 1 ? [`v ${LAYOUT_NAMES[nextLayout(context, state)]}`] : []),
    ...(options.save ? ["w saves it in a file"] : []),
    ...(options.answers ?? []).map(({ keys: [key], label }) => `${key} ${safeLine(label)}`),
    "esc goes back",
  ].join(" · ");
  return [
    ...wrapText(safeLine(message ?? ""), columns)
      .filter((line) => line !== "")
      .map((line) => () => theme.warning(line)),
    (place) => theme.key(truncateText(`${end}${place}`, columns)),
    ...wrapText(keys, columns).map((line) => () => theme.dim(line)),
  ];
}
