/** The parts of a session that a page for others can leave out. */
export const HTML_PARTS = ["thinking", "calls", "results", "images", "context", "costs", "folder"] as const;
export type HtmlPart = (typeof HTML_PARTS)[number];
