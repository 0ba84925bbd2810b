/** What the content needs from large libraries. The plain version is there at once; the real one is loaded after the first paint. */
import { type Span, span } from "./spans.js";

/** The state of highlighting between two lines of code. A value: a line may be tried and given up. */
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
  loading ??= import("./highlight.js").then(({ highlighter }) => ({ highlighter }));
  return loading;
}
