/** Searches steps for a text. Lower case matches both cases; a capital makes the search case-sensitive. */
import type { StepContent } from "./step-content.js";

export function needlePattern(needle: string): RegExp {
  const exact = needle.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(exact, needle === needle.toLowerCase() ? "giu" : "gu");
}

/** Whether a step contains it, with or without details; the log's own lines (ids, timings) are not searched. */
export function contains(content: StepContent, needle: string): boolean {
  const pattern = needlePattern(needle);
  const texts = content.sections.filter(({ label }) => label !== "log").map(({ text }) => text);
  return [content.title, ...texts].some((text) => text.search(pattern) !== -1);
}
