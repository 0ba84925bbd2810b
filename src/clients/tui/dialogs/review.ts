/**
 * Shows changes file by file, in one column, in two, or in the whole file, and takes a decision for each file or each hunk.
 *
 * 1. Files and hunks without a decision stay unchanged.
 * 2. Nothing happens before Enter, which the last line explains with numbers.
 */
import type { ProposedFile } from "../../sdk/shown/proposed-change.js";
import type { FileText } from "../content/diff/whole-file.js";
import type { ContentTools } from "../content/tools.js";
import type { Key } from "../terminal/terminal.js";
import type { Dialog, Step } from "./dialog.js";
import { nextLayout, type ReviewLayout, WIDE } from "./review-layout.js";
import { savedReview } from "./review-text.js";
import { type ReviewContext, viewReview } from "./review-view.js";

export interface ReviewFile extends ProposedFile {
  /** All of it, for the view of the whole file; absent if it is not known. */
  readonly text?: FileText;
  /** One decision for the whole file, even if other files have one per hunk. */
  readonly whole?: true;
  /** It cannot be changed; the notes say why. */
  readonly fixed?: true;
}

export interface ReviewOptions {
  /** `Undo of turn 2` */
  readonly title: string;
  readonly files: readonly ReviewFile[];
  readonly unit: "file" | "hunk";
  /** Other words for a decision: `approved` instead of `accepted`. */
  readonly words?: { readonly accepted: string; readonly a: string };
  /** Nothing is accepted unseen: a file is accepted when its end was on the screen, and one file at a time. */
  readonly showsAll?: true;
  /** The review ends automatically when every stop has a decision. */
  readonly endsWhenDecided?: true;
  /** What Enter does now: `undoes 1 of 2 files`. */
  readonly end: (counts: ReviewCounts) => string;
  /** Keys that end the review with an answer for the whole. */
  readonly answers?: readonly { readonly keys: readonly string[]; readonly label: string }[];
  /** Saves a text in a file for the user and returns its path. Absent if the client cannot. */
  readonly save?: (name: string, text: string) => string;
  /** Colours code. */
  readonly tools?: ContentTools;
}

export interface ReviewCounts {
  readonly accepted: number;
  readonly declined: number;
  /** The number of stops. */
  readonly all: number;
}

export type ReviewVerdict = "accepted" | "declined";

export interface ReviewState {
  /** The index of the current stop. */
  readonly at: number;
  readonly verdicts: Readonly<Record<number, ReviewVerdict>>;
  /** The user's choice; default: depends on the width. */
  readonly layout?: ReviewLayout;
  /** The first visible row of the diff; undefined: follows the stop. */
  readonly top?: number;
  /** What the last key did, until the next one. */
  readonly message?: string;
}

/** A file or hunk that needs a decision. */
export interface ReviewStop {
  readonly file: number;
  /** Absent if one decision is for the whole file. */
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
  /** The user went back. */
  | undefined;

type ReviewStep = Step<ReviewState, ReviewResult>;

export function reviewDialog(options: ReviewOptions): Dialog<ReviewState, ReviewResult> {
  const stops = stopsOf(options);
  const seen = { at: -1, isPainted: false, columns: WIDE, rows: 1, lines: 0, first: 0 };
  const context = { options, stops, seen };
  return {
    name: "review",
    fullScreen: true,
    first: { at: 0, verdicts: {} },
    onKey: (state, key) => onKey(context, state, key),
    view: (state, size, theme) => viewReview(context, state, { size, theme }),
  };
}

function stopsOf({ files, unit }: ReviewOptions): readonly ReviewStop[] {
  return files.flatMap(({ hunks, whole }, file): readonly ReviewStop[] =>
    unit === "file" || whole || hunks.length < 2 ? [{ file }] : hunks.map((_, hunk) => ({ file, hunk })),
  );
}

function onKey(context: ReviewContext, { message: _, ...state }: ReviewState, { id = "" }: Key): ReviewStep {
  const { options } = context;
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
      return isUnseen(context, state)
        ? { state: readOn(context, state) }
        : decided(context, decide(context, state, "accepted"));
    case "d":
      return decided(context, decide(context, state, "declined"));
    case "shift+a":
    case "A":
      if (options.showsAll)
        return { state: { ...state, message: "Each file is shown before you accept it: a is for this one." } };
      return decided(context, decideMany(context, state, "accepted"));
    case "shift+d":
    case "D":
      return decided(context, decideMany(context, state, "declined"));
    case "v":
      return { state: { ...withoutTop(state), layout: nextLayout(context, state) } };
    case "w":
      return { state: saved(context, state) };
    default:
      return { state: scrolled(context, state, id) };
  }
}

/** Keys that were typed ahead arrive before the screen shows what they are about. */
function isUnseen({ options, seen }: ReviewContext, { at }: ReviewState): boolean {
  if (options.showsAll !== true) return false;
  return seen.at !== at || !seen.isPainted || seen.first + seen.rows < seen.lines;
}

function readOn(context: ReviewContext, state: ReviewState): ReviewState {
  if (context.seen.at !== state.at || !context.seen.isPainted) return state;
  return { ...scrolled(context, state, "pageDown"), message: "There was more to read: a goes on at the end." };
}

function saved(context: ReviewContext, state: ReviewState): ReviewState {
  const { save } = context.options;
  if (save === undefined) return state;
  const { name, text } = savedReview(context, state);
  try {
    return { ...state, message: `Saved: ${save(name, text)}` };
  } catch (error) {
    return { ...state, message: `Not saved: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function decided(context: ReviewContext, state: ReviewState): ReviewStep {
  const { options, stops } = context;
  const isOpen = (_: ReviewStop, at: number) => state.verdicts[at] === undefined;
  return options.endsWhenDecided && !stops.some(isOpen) ? { done: resultOf(context, state) } : { state };
}

function withoutTop({ top: _top, ...rest }: ReviewState): ReviewState {
  return rest;
}

function moved({ stops }: ReviewContext, state: ReviewState, to: number): ReviewState {
  return { ...withoutTop(state), at: Math.max(0, Math.min(stops.length - 1, to)) };
}

function toFile(context: ReviewContext, state: ReviewState, by: 1 | -1): ReviewState {
  const { stops } = context;
  const now = stops[state.at]?.file ?? 0;
  const to = stops.findIndex(({ file }) => file === now + by);
  return to === -1 ? state : moved(context, state, to);
}

function scrolled({ seen }: ReviewContext, state: ReviewState, id: string): ReviewState {
  const page = Math.max(1, seen.rows - 1);
  const steps: Readonly<Record<string, number>> = {
    ...{ up: -1, k: -1, down: 1, j: 1, pageUp: -page, b: -page, pageDown: page, space: page },
    ...{ home: -seen.lines, g: -seen.lines, end: seen.lines, G: seen.lines, "shift+g": seen.lines },
  };
  const by = steps[id];
  if (by === undefined) return state;
  return { ...state, top: Math.max(0, Math.min(seen.lines - seen.rows, seen.first + by)) };
}

/** Then goes to the next stop without a decision. */
function decide(context: ReviewContext, state: ReviewState, verdict: ReviewVerdict): ReviewState {
  const { stops, options } = context;
  const isFixed = options.files[stops[state.at]?.file ?? 0]?.fixed;
  const next = isFixed ? state : { ...state, verdicts: { ...state.verdicts, [state.at]: verdict } };
  return moved(context, next, state.at + 1);
}

/** Decides about the whole file, or about all files if each file is one stop. */
function decideMany({ stops, options }: ReviewContext, state: ReviewState, verdict: ReviewVerdict): ReviewState {
  const file = stops[state.at]?.file;
  const verdicts = { ...state.verdicts };
  for (const [index, stop] of stops.entries()) {
    if (options.files[stop.file]?.fixed || (options.unit === "hunk" && stop.file !== file)) continue;
    verdicts[index] = verdict;
  }
  return { ...state, verdicts };
}

function resultOf({ stops, options }: ReviewContext, { verdicts }: ReviewState): ReviewResult {
  const which = (verdict: ReviewVerdict | undefined) =>
    stops.filter(({ file }, index) => verdicts[index] === verdict && options.files[file]?.fixed !== true);
  return {
    kind: "decided",
    accepted: which("accepted"),
    declined: which("declined"),
    undecided: which(undefined),
  };
}
