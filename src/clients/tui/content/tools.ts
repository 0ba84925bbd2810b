/** Functions from large libraries. The plain version works at once; the real one is loaded with the first turn. */
import { type Span, span } from "./spans.js";

/** The state of highlighting between two lines of code. It is immutable, so a preview of a line can be dropped. */
export interface Highlighter {
  line(text: string): { readonly spans: readonly Span[]; readonly next: Highlighter };
}

export interface ContentTools {
  /** For one piece of code in a language as Markdown names it: `ts`, `python`, or none. */
  highlighter(language: string): Highlighter;
}

const PLAIN: Highlighter = { line: (text) => ({ spans: [span(text)], next: PLAIN }) };

export const plainTools: ContentTools = { highlighter: () => PLAIN };

let loading: Promise<ContentTools> | undefined;

export function loadContentTools(): Promise<ContentTools> {
  loading ??= import("../../sdk/shown/highlight.js").then(({ highlighter }) => ({ highlighter }));
  return loading;
}
