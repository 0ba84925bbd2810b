/**
 * Shows changes file by file, one column or two, and takes a decision for each file or each hunk.
 *
 * 1. What no one decided on stays as it is.
 * 2. Nothing happens before Enter, which the last line explains with numbers.
 */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText, wrapText } from "../../../base/text-width.js";
import type { Hunk } from "../content/diff/hunks.js";
import { renderDiff } from "../content/diff/render-diff.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";

export interface ReviewFile {
  readonly path: string;
  /** What would happen to it: `restore, +1 -1`. */
  readonly what: string;
  /** What a person should know before a decision: that it is guarded, that the diff is cut. */
  readonly notes: readonly string[];
  readonly hunks: readonly Hunk[];
  /** It stays as it is, whatever a person decides; the notes say why. */
  readonly fixed?: true;
}

export interface ReviewOptions {
  /** `Undo of turn 2` */
  readonly title: string;
  readonly files: readonly ReviewFile[];
  readonly unit: "file" | "hunk";
  /** Other words for a decision: `approved` instead of `accepted`. */
  readonly words?: { readonly accepted: string; readonly a: string };
  /** The review ends by itself when every stop has a decision. */
  readonly endsWhenDecided?: true;
  /** What Enter does now: `undoes 1 of 2 files`. */
  readonly end: (counts: ReviewCounts) => string;
  /** Keys that end the review with an answer for the whole. */
  readonly answers?: readonly { readonly keys: readonly string[]; readonly label: string }[];
}

export interface ReviewCounts {
  readonly accepted: number;
  readonly declined: number;
  /** What can be decided on. */
  readonly all: number;
}

export type ReviewVerdict = "accepted" | "declined";

export interface ReviewState {
  /** Which of the stops is shown. */
  readonly at: number;
  readonly verdicts: Readonly<Record<number, ReviewVerdict>>;
  /** As the person chose it; otherwise the width decides. */
  readonly layout?: "unified" | "split";
  /** The first row of the diff that is shown; undefined follows the stop. */
  readonly top?: number;
}

/** A file, or a hunk of it, that a person decides on. */
export interface ReviewStop {
  readonly file: number;
  /** Absent where the file is decided on as a whole. */
  readonly hunk?: number;
}

export type ReviewResult =
  | {
      readonly kind: "decided";
      readonly accepted: readonly ReviewStop[];
      readonly declined: readonly ReviewStop[];
      readonly undecided: readonly ReviewStop[];
    }
  | { readonly kind: "answer"; readonly key: string }
  /** The person went back. */
  | undefined;

type ReviewStep = Step<ReviewState, ReviewResult>;

/** From here on two columns are the first choice. */
const WIDE = 120;
const LEAST_SPLIT = 80;

export function reviewDialog(options: ReviewOptions): Dialog<ReviewState, ReviewResult> {
  const stops = stopsOf(options);
  // What the last view measured, for the keys that scroll and switch.
  const seen = { columns: WIDE, rows: 1, lines: 0, first: 0 };
  const context = { options, stops, seen };
  return {
    name: "review",
    fullScreen: true,
    first: { at: 0, verdicts: {} },
    onKey: (state, key) => onKey(context, state, key),
    view: (state, size, theme) => view(context, state, { size, theme }),
  };
}

interface Context {
  readonly options: ReviewOptions;
  readonly stops: readonly ReviewStop[];
  readonly seen: { columns: number; rows: number; lines: number; first: number };
}

function stopsOf({ files, unit }: ReviewOptions): readonly ReviewStop[] {
  return files.flatMap(({ hunks }, file): readonly ReviewStop[] =>
    unit === "file" || hunks.length < 2 ? [{ file }] : hunks.map((_, hunk) => ({ file, hunk })),
  );
}

function onKey(context: Context, state: ReviewState, { id = "" }: Key): ReviewStep {
  const { options, seen } = context;
  const answer = options.answers?.find(({ keys }) => keys.includes(id));
  if (answer !== undefined) return { done: { kind: "answer", key: answer.keys[0] ?? id } };
  switch (id) {
    case "escape":
    case "q":
    case "ctrl+c":
      return { done: undefined };
    case "enter":
      return { done: resultOf(context, state) };
    case "n":
    case "s":
    case "right":
      return { state: moved(context, state, state.at + 1) };
    case "p":
    case "left":
      return { state: moved(context, state, state.at - 1) };
    case "shift+n":
    case "N":
    case "tab":
      return { state: toFile(context, state, 1) };
    case "shift+p":
    case "P":
    case "shift+tab":
      return { state: toFile(context, state, -1) };
    case "a":
      return decided(context, decide(context, state, "accepted"));
    case "d":
      return decided(context, decide(context, state, "declined"));
    case "shift+a":
    case "A":
      return decided(context, decideMany(context, state, "accepted"));
    case "shift+d":
    case "D":
      return decided(context, decideMany(context, state, "declined"));
    case "v":
      return {
        state: { ...withoutTop(state), layout: layoutOf(state, seen.columns) === "split" ? "unified" : "split" },
      };
    default:
      return { state: scrolled(context, state, id) };
  }
}

function decided(context: Context, state: ReviewState): ReviewStep {
  const { options, stops } = context;
  const isOpen = (_: ReviewStop, at: number) => state.verdicts[at] === undefined;
  return options.endsWhenDecided && !stops.some(isOpen) ? { done: resultOf(context, state) } : { state };
}

function withoutTop({ top: _top, ...rest }: ReviewState): ReviewState {
  return rest;
}

function moved({ stops }: Context, state: ReviewState, to: number): ReviewState {
  return { ...withoutTop(state), at: Math.max(0, Math.min(stops.length - 1, to)) };
}

function toFile(context: Context, state: ReviewState, by: 1 | -1): ReviewState {
  const { stops } = context;
  const now = stops[state.at]?.file ?? 0;
  const to = stops.findIndex(({ file }) => file === now + by);
  return to === -1 ? state : moved(context, state, to);
}

function scrolled({ seen }: Context, state: ReviewState, id: string): ReviewState {
  const page = Math.max(1, seen.rows - 1);
  const steps: Readonly<Record<string, number>> = {
    ...{ up: -1, k: -1, down: 1, j: 1, pageUp: -page, b: -page, pageDown: page, space: page },
    ...{ home: -seen.lines, g: -seen.lines, end: seen.lines, G: seen.lines, "shift+g": seen.lines },
  };
  const by = steps[id];
  if (by === undefined) return state;
  return { ...state, top: Math.max(0, Math.min(seen.lines - seen.rows, seen.first + by)) };
}

/** The next one without a decision is shown then. */
function decide(context: Context, state: ReviewState, verdict: ReviewVerdict): ReviewState {
  const { stops, options } = context;
  const isFixed = options.files[stops[state.at]?.file ?? 0]?.fixed;
  const next = isFixed ? state : { ...state, verdicts: { ...state.verdicts, [state.at]: verdict } };
  return moved(context, next, state.at + 1);
}

/** The whole file, or all files where a file is decided on as a whole. */
function decideMany({ stops, options }: Context, state: ReviewState, verdict: ReviewVerdict): ReviewState {
  const file = stops[state.at]?.file;
  const verdicts = { ...state.verdicts };
  for (const [index, stop] of stops.entries()) {
    if (options.files[stop.file]?.fixed || (options.unit === "hunk" && stop.file !== file)) continue;
    verdicts[index] = verdict;
  }
  return { ...state, verdicts };
}

function resultOf({ stops, options }: Context, { verdicts }: ReviewState): ReviewResult {
  const which = (verdict: ReviewVerdict | undefined) =>
    stops.filter(({ file }, index) => verdicts[index] === verdict && options.files[file]?.fixed !== true);
  return {
    kind: "decided",
    accepted: which("accepted"),
    declined: which("declined"),
    undecided: which(undefined),
  };
}

function layoutOf({ layout }: ReviewState, columns: number): "unified" | "split" {
  if (columns < LEAST_SPLIT) return "unified";
  return layout ?? (columns >= WIDE ? "split" : "unified");
}

interface Look {
  readonly size: DialogSize;
  readonly theme: Theme;
}

function view(context: Context, state: ReviewState, { size, theme }: Look): DialogView {
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

function headLines({ options, stops }: Context, { at, verdicts }: ReviewState, { size, theme }: Look): string[] {
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
  { options, stops }: Context,
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

/** The first line also says which part of the diff is seen. */
function footLines(context: Context, { verdicts }: ReviewState, { size, theme }: Look): ((place: string) => string)[] {
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
