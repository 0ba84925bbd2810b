/** How a review shows a file: its changes in one column or two, or the whole file with the changes in place. */
import { type WholeFile, wholeFile } from "../content/diff/whole-file.js";
import type { ReviewFile, ReviewState } from "./review.js";
import type { ReviewContext } from "./review-view.js";

export type ReviewLayout = "unified" | "split" | "file";

export const LAYOUT_NAMES: Readonly<Record<ReviewLayout, string>> = {
  unified: "one column",
  split: "two columns",
  file: "the whole file",
};

/** From this width on, two columns are the default. */
export const WIDE = 120;
/** Below this, two columns are too narrow to read. */
const LEAST_SPLIT = 80;

/** Those that are possible for this file on this screen. */
export function layoutsOf({ options, stops, seen }: ReviewContext, { at }: ReviewState): readonly ReviewLayout[] {
  const file = options.files[stops[at]?.file ?? 0];
  return [
    "unified",
    ...(seen.columns >= LEAST_SPLIT ? ["split" as const] : []),
    ...(file?.text === undefined ? [] : ["file" as const]),
  ];
}

export function layoutOf(context: ReviewContext, state: ReviewState): ReviewLayout {
  const wanted = state.layout ?? (context.seen.columns >= WIDE ? "split" : "unified");
  return layoutsOf(context, state).includes(wanted) ? wanted : "unified";
}

export function nextLayout(context: ReviewContext, state: ReviewState): ReviewLayout {
  const layouts = layoutsOf(context, state);
  return layouts[(layouts.indexOf(layoutOf(context, state)) + 1) % layouts.length] ?? "unified";
}

const made = new WeakMap<ReviewFile, WholeFile>();

export function wholeOf(file: ReviewFile): WholeFile {
  const whole = made.get(file) ?? wholeFile(file.text ?? { content: "", side: "old" }, file.hunks);
  made.set(file, whole);
  return whole;
}
